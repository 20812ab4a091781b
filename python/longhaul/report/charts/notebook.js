// src/charts/data.ts
function e(e) {
	if (Array.isArray(e)) return Float64Array.from(e, (e) => e ?? NaN);
	let t = new Float64Array(e.steps.length), n = Math.round(1 / e.step), r = 0;
	for (let [i, a] of e.steps.entries()) r = e.sums ? r + a : a, t[i] = r / n;
	return t;
}
function t(t, n) {
	return t.series.map(({ x: t, y: r, interval: i, ...a }) => {
		let [o, s] = [n[t], e(r)], c = a.width && e(a.width), l = a.height && e(a.height), u = c ? o.map((e, t) => e + c[t]) : null;
		return {
			...a,
			x: o,
			y: s,
			low: l ? s.map((e, t) => e - l[t]) : null,
			toX: u,
			begins: i ? e(i[0]) : null,
			ends: i ? e(i[1]) : u
		};
	});
}
function n(e, t) {
	let [n, r] = [0, e.length];
	for (; n < r;) {
		let i = n + r >> 1;
		e[i] > t ? r = i : n = i + 1;
	}
	return n;
}
// src/charts/look.ts
var r = (e) => `${e}px system-ui, "DejaVu Sans", sans-serif`, i = [5, 4], a = [1, 2], o = (e) => e.map((e) => e * 96 / 72), s = (e) => e.map((e) => e * devicePixelRatio);
function c(e) {
	if (e === null) return "";
	let t = Math.abs(e);
	return t >= 1e5 || t > 0 && t < 1e-4 ? e.toExponential(+!Number.isInteger(Math.log10(t))) : String(Number(e.toPrecision(9)));
}
function l(e) {
	let t = e ? e / 10 ** Math.floor(Math.log10(e) + 1e-9) : NaN;
	return Math.abs(t - Math.round(t)) < 1e-6 ? c(e) : "";
}
var u = (e, t) => e == null || Number.isNaN(e) ? "" : String(Number(e.toPrecision(t)));
function d(e, t) {
	return {
		stroke: () => e("--muted"),
		grid: {
			stroke: () => e("--grid"),
			width: 1
		},
		ticks: {
			stroke: () => e("--grid"),
			width: 1,
			size: 4
		},
		font: r(t),
		labelFont: r(t)
	};
}
// src/charts/export.ts
var f = 18, p = 10;
function m(e, t, n, i) {
	let a = devicePixelRatio, o = e.getBoundingClientRect(), s = document.createElement("canvas");
	s.width = (o.width + 20) * a, s.height = (o.height + f + 20) * a;
	let c = s.getContext("2d");
	c.scale(a, a), c.fillStyle = i("--paper"), c.fillRect(0, 0, s.width, s.height), c.translate(p, p), c.textBaseline = "middle", _(c, t.title, 0, f / 2, `600 ${r(13)}`, i("--ink")), c.translate(0, f);
	for (let { plot: e, box: t, panel: r } of n) {
		let n = e.root.getBoundingClientRect(), [s, l] = [n.left - o.left, n.top - o.top];
		c.drawImage(e.ctx.canvas, s, l, n.width, e.ctx.canvas.height / a), h(c, r, s, t.getBoundingClientRect().top - o.top, s + n.width, i);
	}
	return s;
}
function h(e, t, n, i, a, o) {
	let s = i + f / 2, c = n + _(e, t.title, n, s, r(12), o("--ink"));
	t.title && (c += 12);
	for (let n of t.series.filter((e) => e.listed !== !1)) {
		let t = g(e, n.name, r(12)) + 26;
		if (c + t > a) break;
		e.strokeStyle = o(n.colour), e.lineWidth = 3, e.setLineDash((n.dashes ?? []).map((e) => e * 2 / 3)), e.beginPath(), e.moveTo(c, s), e.lineTo(c + 16, s), e.stroke(), _(e, n.name, c + 20, s, r(12), o("--muted")), c += t + 8;
	}
	e.setLineDash([]);
}
function g(e, t, n) {
	return e.font = n, e.measureText(t).width;
}
function _(e, t, n, r, i, a) {
	return e.font = i, e.fillStyle = a, e.fillText(t, n, r), g(e, t, i);
}
var v = [
	"panel",
	"series",
	"x",
	"x_name",
	"x_unit",
	"y",
	"y_name",
	"y_unit",
	"lower",
	"upper",
	"x_lower",
	"x_upper"
];
function y(e, n) {
	let r = [v];
	for (let i of e.rows.flat()) {
		let [a, o] = [b(e.axes[i.x].label), b(i.y.label || (i.y.names ? "name" : ""))];
		for (let e of t(i, n)) {
			let t = e.toX !== null && (e.kind !== "bars" || e.x.some((e) => e !== 0));
			for (let [n, s] of e.x.entries()) {
				let c = i.y.names?.[Math.round(e.y[n])] ?? x(e.y[n]), [l, u] = [e.toX?.[n], e.low?.[n]], d = t ? "" : x(l ?? s), [f, p] = u === void 0 ? ["", ""] : [x(u), c], m = t ? [s, l] : [e.begins?.[n], e.begins ? e.ends?.[n] : void 0], h = u === void 0 ? c : "";
				r.push([
					i.title,
					e.name,
					d,
					...a,
					h,
					...o,
					f,
					p,
					...m.map(x)
				]);
			}
		}
	}
	return r.map((e) => `${e.map(S).join(",")}\r\n`).join("");
}
function b(e) {
	let t = /^(.*?)\s*\[([^\]]*)\]\s*$/.exec(e);
	return t ? [t[1], t[2]] : [e, ""];
}
var x = (e) => e === void 0 || Number.isNaN(e) ? "" : String(e), S = (e) => /[",\r\n]/.test(e) ? `"${e.replaceAll("\"", "\"\"")}"` : e;
function C(e, t) {
	let n = URL.createObjectURL(t), r = document.createElement("a");
	r.href = n, r.download = e, r.click(), setTimeout(() => URL.revokeObjectURL(n), 6e4);
}
// node_modules/uplot/dist/uPlot.esm.js
var w = !0, T = "uplot", E = "u-hz", ee = "u-vt", te = "u-title", ne = "u-wrap", re = "u-under", ie = "u-over", ae = "u-axis", oe = "u-off", se = "u-select", ce = "u-cursor-x", le = "u-cursor-y", ue = "u-cursor-pt", de = "u-legend", fe = "u-live", pe = "u-inline", me = "u-series", he = "u-marker", ge = "u-label", _e = "u-value", ve = "width", ye = "height", be = "top", xe = "bottom", Se = "left", Ce = "right", we = "#000", Te = "#0000", Ee = "mousemove", De = "mousedown", Oe = "mouseup", ke = "mouseenter", Ae = "mouseleave", je = "dblclick", Me = "resize", D = "scroll", Ne = "change", Pe = "dppxchange", Fe = "--", Ie = typeof window < "u", Le = Ie ? document : null, Re = Ie ? window : null, ze = Ie ? navigator : null, O, k;
function Be() {
	let e = devicePixelRatio;
	O != e && (O = e, k && et(Ne, k, Be), k = matchMedia(`(min-resolution: ${O - .001}dppx) and (max-resolution: ${O + .001}dppx)`), $e(Ne, k, Be), Re.dispatchEvent(new CustomEvent(Pe)));
}
function Ve(e, t) {
	if (t != null) {
		let n = e.classList;
		!n.contains(t) && n.add(t);
	}
}
function He(e, t) {
	let n = e.classList;
	n.contains(t) && n.remove(t);
}
function A(e, t, n) {
	e.style[t] = n + "px";
}
function Ue(e, t, n, r) {
	let i = Le.createElement(e);
	return t != null && Ve(i, t), n?.insertBefore(i, r), i;
}
function We(e, t) {
	return Ue("div", e, t);
}
var Ge = /* @__PURE__ */ new WeakMap();
function Ke(e, t, n, r, i) {
	let a = "translate(" + t + "px," + n + "px)";
	a != Ge.get(e) && (e.style.transform = a, Ge.set(e, a), t < 0 || n < 0 || t > r || n > i ? Ve(e, oe) : He(e, oe));
}
var qe = /* @__PURE__ */ new WeakMap();
function Je(e, t, n) {
	let r = t + n;
	r != qe.get(e) && (qe.set(e, r), e.style.background = t, e.style.borderColor = n);
}
var Ye = /* @__PURE__ */ new WeakMap();
function Xe(e, t, n, r) {
	let i = t + "" + n;
	i != Ye.get(e) && (Ye.set(e, i), e.style.height = n + "px", e.style.width = t + "px", e.style.marginLeft = r ? -t / 2 + "px" : 0, e.style.marginTop = r ? -n / 2 + "px" : 0);
}
var Ze = { passive: !0 }, Qe = {
	...Ze,
	capture: !0
};
function $e(e, t, n, r) {
	t.addEventListener(e, n, r ? Qe : Ze);
}
function et(e, t, n, r) {
	t.removeEventListener(e, n, Ze);
}
Ie && Be();
function tt(e, t, n, r) {
	let i;
	n ||= 0, r ||= t.length - 1;
	let a = r <= 2147483647;
	for (; r - n > 1;) i = a ? n + r >> 1 : F((n + r) / 2), t[i] < e ? n = i : r = i;
	return e - t[n] <= t[r] - e ? n : r;
}
function j(e) {
	return (t, n, r) => {
		let i = -1, a = -1;
		for (let a = n; a <= r; a++) if (e(t[a])) {
			i = a;
			break;
		}
		for (let i = r; i >= n; i--) if (e(t[i])) {
			a = i;
			break;
		}
		return [i, a];
	};
}
var M = (e) => e != null, nt = (e) => e != null && e > 0, rt = j(M), it = j(nt);
function at(e, t, n, r = 0, i = !1) {
	let a = i ? it : rt, o = i ? nt : M;
	[t, n] = a(e, t, n);
	let s = e[t], c = e[t];
	if (t > -1) {
		if (r == 1) s = e[t], c = e[n];
		else if (r == -1) s = e[n], c = e[t];
		else for (let r = t; r <= n; r++) {
			let t = e[r];
			o(t) && (t < s ? s = t : t > c && (c = t));
		}
	}
	return [s ?? L, c ?? -L];
}
function ot(e, t, n, r) {
	let i = Ct(e), a = Ct(t);
	e == t && (i == -1 ? (e *= n, t /= n) : (e /= n, t *= n));
	let o = n == 10 ? wt : Tt, s = i == 1 ? F : yt, c = a == 1 ? yt : F, l = s(o(P(e))), u = c(o(P(t))), d = St(n, l), f = St(n, u);
	return n == 10 && (l < 0 && (d = z(d, -l)), u < 0 && (f = z(f, -u))), r || n == 2 ? (e = d * i, t = f * a) : (e = Vt(e, d), t = Bt(t, f)), [e, t];
}
function st(e, t, n, r) {
	let i = ot(e, t, n, r);
	return e == 0 && (i[0] = 0), t == 0 && (i[1] = 0), i;
}
var ct = .1, lt = {
	mode: 3,
	pad: ct
}, ut = {
	pad: 0,
	soft: null,
	mode: 0
}, dt = {
	min: ut,
	max: ut
};
function ft(e, t, n, r) {
	return Zt(n) ? mt(e, t, n) : (ut.pad = n, ut.soft = r ? 0 : null, ut.mode = r ? 3 : 0, mt(e, t, dt));
}
function N(e, t) {
	return e ?? t;
}
function pt(e, t, n) {
	for (t = N(t, 0), n = N(n, e.length - 1); t <= n;) {
		if (e[t] != null) return !0;
		t++;
	}
	return !1;
}
function mt(e, t, n) {
	let r = n.min, i = n.max, a = N(r.pad, 0), o = N(i.pad, 0), s = N(r.hard, -L), c = N(i.hard, L), l = N(r.soft, L), u = N(i.soft, -L), d = N(r.mode, 0), f = N(i.mode, 0), p = t - e, m = wt(p), h = xt(P(e), P(t)), g = P(wt(h) - m);
	(p < 1e-24 || g > 10) && (p = 0, (e == 0 || t == 0) && (p = 1e-24, d == 2 && l != L && (a = 0), f == 2 && u != -L && (o = 0)));
	let _ = p || h || 1e3, v = St(10, F(wt(_))), y = z(Vt(e - _ * (p == 0 ? e == 0 ? .1 : 1 : a), v / 10), 24), b = e >= l && (d == 1 || d == 3 && y <= l || d == 2 && y >= l) ? l : L, x = xt(s, y < b && e >= b ? b : bt(b, y)), S = z(Bt(t + _ * (p == 0 ? t == 0 ? .1 : 1 : o), v / 10), 24), C = t <= u && (f == 1 || f == 3 && S >= u || f == 2 && S <= u) ? u : -L, w = bt(c, S > C && t <= C ? C : xt(C, S));
	return x == w && x == 0 && (w = 100), [x, w];
}
var ht = new Intl.NumberFormat(Ie ? ze.language : "en-US"), gt = (e) => ht.format(e), _t = Math, vt = _t.PI, P = _t.abs, F = _t.floor, I = _t.round, yt = _t.ceil, bt = _t.min, xt = _t.max, St = _t.pow, Ct = _t.sign, wt = _t.log10, Tt = _t.log2, Et = (e, t = 1) => _t.sinh(e) * t, Dt = (e, t = 1) => _t.asinh(e / t), L = Infinity;
function Ot(e) {
	return (wt((e ^ e >> 31) - (e >> 31)) | 0) + 1;
}
function kt(e, t, n) {
	return bt(xt(e, t), n);
}
function At(e) {
	return typeof e == "function";
}
function R(e) {
	return At(e) ? e : () => e;
}
var jt = () => {}, Mt = (e) => e, Nt = (e, t) => t, Pt = (e) => null, Ft = (e) => !0, It = (e, t) => e == t, Lt = /\.\d*?(?=9{6,}|0{6,})/gm, Rt = (e) => {
	if (B(e) || Ht.has(e)) return e;
	let t = `${e}`, n = t.match(Lt);
	if (n == null) return e;
	let r = n[0].length - 1;
	if (t.indexOf("e-") != -1) {
		let [e, n] = t.split("e");
		return +`${Rt(e)}e${n}`;
	}
	return z(e, r);
};
function zt(e, t) {
	return Rt(z(Rt(e / t)) * t);
}
function Bt(e, t) {
	return Rt(yt(Rt(e / t)) * t);
}
function Vt(e, t) {
	return Rt(F(Rt(e / t)) * t);
}
function z(e, t = 0) {
	if (B(e)) return e;
	let n = 10 ** t;
	return I(e * n * (1 + 2 ** -52)) / n;
}
var Ht = /* @__PURE__ */ new Map();
function Ut(e) {
	return (("" + e).split(".")[1] || "").length;
}
function Wt(e, t, n, r) {
	let i = [], a = r.map(Ut);
	for (let o = t; o < n; o++) {
		let t = P(o), n = z(St(e, o), t);
		for (let s = 0; s < r.length; s++) {
			let c = e == 10 ? +`${r[s]}e${o}` : r[s] * n, l = (o >= 0 ? 0 : t) + (o >= a[s] ? 0 : a[s]), u = e == 10 ? c : z(c, l);
			i.push(u), Ht.set(u, l);
		}
	}
	return i;
}
var Gt = {}, Kt = [], qt = [null, null], Jt = Array.isArray, B = Number.isInteger, Yt = (e) => e === void 0;
function Xt(e) {
	return typeof e == "string";
}
function Zt(e) {
	let t = !1;
	if (e != null) {
		let n = e.constructor;
		t = n == null || n == Object;
	}
	return t;
}
function Qt(e) {
	return typeof e == "object" && !!e;
}
var V = Object.getPrototypeOf(Uint8Array), $t = "__proto__";
function en(e, t = Zt) {
	let n;
	if (Jt(e)) {
		let r = e.find((e) => e != null);
		if (Jt(r) || t(r)) {
			n = Array(e.length);
			for (let r = 0; r < e.length; r++) n[r] = en(e[r], t);
		} else n = e.slice();
	} else if (e instanceof V) n = e.slice();
	else if (t(e)) {
		n = {};
		for (let r in e) r != $t && (n[r] = en(e[r], t));
	} else n = e;
	return n;
}
function H(e) {
	let t = arguments;
	for (let n = 1; n < t.length; n++) {
		let r = t[n];
		for (let t in r) t != $t && (Zt(e[t]) ? H(e[t], en(r[t])) : e[t] = en(r[t]));
	}
	return e;
}
var tn = 0, nn = 1, rn = 2;
function an(e, t, n) {
	for (let r = 0, i, a = -1; r < t.length; r++) {
		let o = t[r];
		if (o > a) {
			for (i = o - 1; i >= 0 && e[i] == null;) e[i--] = null;
			for (i = o + 1; i < n && e[i] == null;) e[a = i++] = null;
		}
	}
}
function on(e, t) {
	if (ln(e)) {
		let t = e[0].slice();
		for (let n = 1; n < e.length; n++) t.push(...e[n].slice(1));
		return un(t[0]) || (t = cn(t)), t;
	}
	let n = /* @__PURE__ */ new Set();
	for (let t = 0; t < e.length; t++) {
		let r = e[t][0], i = r.length;
		for (let e = 0; e < i; e++) n.add(r[e]);
	}
	let r = [Array.from(n).sort((e, t) => e - t)], i = r[0].length, a = /* @__PURE__ */ new Map();
	for (let e = 0; e < i; e++) a.set(r[0][e], e);
	for (let n = 0; n < e.length; n++) {
		let o = e[n], s = o[0];
		for (let e = 1; e < o.length; e++) {
			let c = o[e], l = Array(i).fill(void 0), u = t ? t[n][e] : nn, d = [];
			for (let e = 0; e < c.length; e++) {
				let t = c[e], n = a.get(s[e]);
				t === null ? u != tn && (l[n] = t, u == rn && d.push(n)) : l[n] = t;
			}
			an(l, d, i), r.push(l);
		}
	}
	return r;
}
var sn = typeof queueMicrotask > "u" ? (e) => Promise.resolve().then(e) : queueMicrotask;
function cn(e) {
	let t = e[0], n = t.length, r = Array(n);
	for (let e = 0; e < r.length; e++) r[e] = e;
	r.sort((e, n) => t[e] - t[n]);
	let i = [];
	for (let t = 0; t < e.length; t++) {
		let a = e[t], o = Array(n);
		for (let e = 0; e < n; e++) o[e] = a[r[e]];
		i.push(o);
	}
	return i;
}
function ln(e) {
	let t = e[0][0], n = t.length;
	for (let r = 1; r < e.length; r++) {
		let i = e[r][0];
		if (i.length != n) return !1;
		if (i != t) {
			for (let e = 0; e < n; e++) if (i[e] != t[e]) return !1;
		}
	}
	return !0;
}
function un(e, t = 100) {
	let n = e.length;
	if (n <= 1) return !0;
	let r = 0, i = n - 1;
	for (; r <= i && e[r] == null;) r++;
	for (; i >= r && e[i] == null;) i--;
	if (i <= r) return !0;
	let a = xt(1, F((i - r + 1) / t));
	for (let t = e[r], n = r + a; n <= i; n += a) {
		let r = e[n];
		if (r != null) {
			if (r <= t) return !1;
			t = r;
		}
	}
	return !0;
}
var dn = [
	"January",
	"February",
	"March",
	"April",
	"May",
	"June",
	"July",
	"August",
	"September",
	"October",
	"November",
	"December"
], fn = [
	"Sunday",
	"Monday",
	"Tuesday",
	"Wednesday",
	"Thursday",
	"Friday",
	"Saturday"
];
function pn(e) {
	return e.slice(0, 3);
}
var mn = fn.map(pn), hn = {
	MMMM: dn,
	MMM: dn.map(pn),
	WWWW: fn,
	WWW: mn
};
function gn(e) {
	return (e < 10 ? "0" : "") + e;
}
function _n(e) {
	return (e < 10 ? "00" : e < 100 ? "0" : "") + e;
}
var vn = {
	YYYY: (e) => e.getFullYear(),
	YY: (e) => (e.getFullYear() + "").slice(2),
	MMMM: (e, t) => t.MMMM[e.getMonth()],
	MMM: (e, t) => t.MMM[e.getMonth()],
	MM: (e) => gn(e.getMonth() + 1),
	M: (e) => e.getMonth() + 1,
	DD: (e) => gn(e.getDate()),
	D: (e) => e.getDate(),
	WWWW: (e, t) => t.WWWW[e.getDay()],
	WWW: (e, t) => t.WWW[e.getDay()],
	HH: (e) => gn(e.getHours()),
	H: (e) => e.getHours(),
	h: (e) => {
		let t = e.getHours();
		return t == 0 ? 12 : t > 12 ? t - 12 : t;
	},
	AA: (e) => e.getHours() >= 12 ? "PM" : "AM",
	aa: (e) => e.getHours() >= 12 ? "pm" : "am",
	a: (e) => e.getHours() >= 12 ? "p" : "a",
	mm: (e) => gn(e.getMinutes()),
	m: (e) => e.getMinutes(),
	ss: (e) => gn(e.getSeconds()),
	s: (e) => e.getSeconds(),
	fff: (e) => _n(e.getMilliseconds())
};
function yn(e, t) {
	t ||= hn;
	let n = [], r = /\{([a-z]+)\}|[^{]+/gi, i;
	for (; i = r.exec(e);) n.push(i[0][0] == "{" ? vn[i[1]] : i[0]);
	return (e) => {
		let r = "";
		for (let i = 0; i < n.length; i++) r += typeof n[i] == "string" ? n[i] : n[i](e, t);
		return r;
	};
}
var bn = new Intl.DateTimeFormat().resolvedOptions().timeZone;
function xn(e, t) {
	let n;
	return t == "UTC" || t == "Etc/UTC" ? n = /* @__PURE__ */ new Date(+e + e.getTimezoneOffset() * 6e4) : t == bn ? n = e : (n = new Date(e.toLocaleString("en-US", { timeZone: t })), n.setMilliseconds(e.getMilliseconds())), n;
}
var Sn = (e) => e % 1 == 0, Cn = [
	1,
	2,
	2.5,
	5
], wn = Wt(10, -32, 0, Cn), Tn = Wt(10, 0, 32, Cn), En = Tn.filter(Sn), Dn = wn.concat(Tn), U = "\n", On = "{YYYY}", kn = U + On, An = "{M}/{D}", jn = U + An, Mn = jn + "/{YY}", Nn = "{aa}", Pn = "{h}:{mm}" + Nn, Fn = U + Pn, In = ":{ss}", W = null;
function Ln(e) {
	let t = e * 1e3, n = t * 60, r = n * 60, i = r * 24, a = i * 30, o = i * 365, s = (e == 1 ? Wt(10, 0, 3, Cn).filter(Sn) : Wt(10, -3, 0, Cn)).concat([
		t,
		t * 5,
		t * 10,
		t * 15,
		t * 30,
		n,
		n * 5,
		n * 10,
		n * 15,
		n * 30,
		r,
		r * 2,
		r * 3,
		r * 4,
		r * 6,
		r * 8,
		r * 12,
		i,
		i * 2,
		i * 3,
		i * 4,
		i * 5,
		i * 6,
		i * 7,
		i * 8,
		i * 9,
		i * 10,
		i * 15,
		a,
		a * 2,
		a * 3,
		a * 4,
		a * 6,
		o,
		o * 2,
		o * 5,
		o * 10,
		o * 25,
		o * 50,
		o * 100
	]), c = [
		[
			o,
			On,
			W,
			W,
			W,
			W,
			W,
			W,
			1
		],
		[
			i * 28,
			"{MMM}",
			kn,
			W,
			W,
			W,
			W,
			W,
			1
		],
		[
			i,
			An,
			kn,
			W,
			W,
			W,
			W,
			W,
			1
		],
		[
			r,
			"{h}" + Nn,
			Mn,
			W,
			jn,
			W,
			W,
			W,
			1
		],
		[
			n,
			Pn,
			Mn,
			W,
			jn,
			W,
			W,
			W,
			1
		],
		[
			t,
			In,
			Mn + " " + Pn,
			W,
			jn + " " + Pn,
			W,
			Fn,
			W,
			1
		],
		[
			e,
			In + ".{fff}",
			Mn + " " + Pn,
			W,
			jn + " " + Pn,
			W,
			Fn,
			W,
			1
		]
	];
	function l(t) {
		return (s, c, l, u, d, f) => {
			let p = [], m = d >= o, h = d >= a && d < o, g = t(l), _ = z(g * e, 3), v = qn(g.getFullYear(), m ? 0 : g.getMonth(), h || m ? 1 : g.getDate()), y = z(v * e, 3);
			if (h || m) {
				let n = h ? d / a : 0, r = m ? d / o : 0, i = _ == y ? _ : z(qn(v.getFullYear() + r, v.getMonth() + n, 1) * e, 3), s = new Date(I(i / e)), c = s.getFullYear(), l = s.getMonth();
				for (let a = 0; i <= u; a++) {
					let o = qn(c + r * a, l + n * a, 1), s = o - t(z(o * e, 3));
					i = z((+o + s) * e, 3), i <= u && p.push(i);
				}
			} else {
				let a = d >= i ? i : d, o = y + (F(l) - F(_)) + Bt(_ - y, a);
				p.push(o);
				let m = t(o), h = m.getHours() + m.getMinutes() / n + m.getSeconds() / r, g = d / r, v = f / s.axes[c]._space;
				for (; o = z(o + d, e == 1 ? 0 : 3), !(o > u);) if (g > 1) {
					let e = F(z(h + g, 6)) % 24, n = t(o).getHours() - e;
					n > 1 && (n = -1), o -= n * r, h = (h + g) % 24;
					let i = p[p.length - 1];
					z((o - i) / d, 3) * v >= .7 && p.push(o);
				} else p.push(o);
			}
			return p;
		};
	}
	return [
		s,
		c,
		l
	];
}
var [Rn, zn, Bn] = Ln(1), [Vn, Hn, Un] = Ln(.001);
Wt(2, -53, 53, [1]);
function Wn(e, t) {
	return e.map((e) => e.map((n, r) => r == 0 || r == 8 || n == null ? n : t(r == 1 || e[8] == 0 ? n : e[1] + n)));
}
function Gn(e, t) {
	return (n, r, i, a, o) => {
		let s = t.find((e) => o >= e[0]) || t[t.length - 1], c, l, u, d, f, p;
		return r.map((t) => {
			let n = e(t), r = n.getFullYear(), i = n.getMonth(), a = n.getDate(), o = n.getHours(), m = n.getMinutes(), h = n.getSeconds(), g = r != c && s[2] || i != l && s[3] || a != u && s[4] || o != d && s[5] || m != f && s[6] || h != p && s[7] || s[1];
			return c = r, l = i, u = a, d = o, f = m, p = h, g(n);
		});
	};
}
function Kn(e, t) {
	let n = yn(t);
	return (t, r, i, a, o) => r.map((t) => n(e(t)));
}
function qn(e, t, n) {
	return new Date(e, t, n);
}
function Jn(e, t) {
	return t(e);
}
var Yn = "{YYYY}-{MM}-{DD} {h}:{mm}{aa}";
function Xn(e, t) {
	return (n, r, i, a) => a == null ? Fe : t(e(r));
}
function Zn(e, t) {
	let n = e.series[t];
	return n.width ? n.stroke(e, t) : n.points.width ? n.points.stroke(e, t) : null;
}
function Qn(e, t) {
	return e.series[t].fill(e, t);
}
var $n = {
	show: !0,
	live: !0,
	isolate: !1,
	mount: jt,
	markers: {
		show: !0,
		width: 2,
		stroke: Zn,
		fill: Qn,
		dash: "solid"
	},
	idx: null,
	idxs: null,
	values: []
};
function er(e, t) {
	let n = e.cursor.points, r = We(), i = n.size(e, t);
	A(r, ve, i), A(r, ye, i);
	let a = i / -2;
	A(r, "marginLeft", a), A(r, "marginTop", a);
	let o = n.width(e, t, i);
	return o && A(r, "borderWidth", o), r;
}
function tr(e, t) {
	let n = e.series[t].points;
	return n._fill || n._stroke;
}
function G(e, t) {
	let n = e.series[t].points;
	return n._stroke || n._fill;
}
function K(e, t) {
	return e.series[t].points.size;
}
var nr = [0, 0];
function rr(e, t, n) {
	return nr[0] = t, nr[1] = n, nr;
}
function ir(e, t, n, r = !0) {
	return (e) => {
		e.button != 0 || r && e.target != t || n(e);
	};
}
function ar(e, t, n, r = !0) {
	return (e) => {
		r && e.target != t || n(e);
	};
}
var or = {
	show: !0,
	x: !0,
	y: !0,
	lock: !1,
	move: rr,
	points: {
		one: !1,
		show: er,
		size: K,
		width: 0,
		stroke: G,
		fill: tr
	},
	bind: {
		mousedown: ir,
		mouseup: ir,
		click: ir,
		dblclick: ir,
		mousemove: ar,
		mouseleave: ar,
		mouseenter: ar
	},
	drag: {
		setScale: !0,
		x: !0,
		y: !1,
		dist: 0,
		uni: null,
		click: (e, t) => {
			t.stopPropagation(), t.stopImmediatePropagation();
		},
		_x: !1,
		_y: !1
	},
	focus: {
		dist: (e, t, n, r, i) => r - i,
		prox: -1,
		bias: 0
	},
	hover: {
		skip: [void 0],
		prox: null,
		bias: 0
	},
	left: -10,
	top: -10,
	idx: null,
	dataIdx: null,
	idxs: null,
	event: null
}, sr = {
	show: !0,
	stroke: "rgba(0,0,0,0.07)",
	width: 2
}, cr = H({}, sr, { filter: Nt }), lr = H({}, cr, { size: 10 }), ur = H({}, sr, { show: !1 }), dr = "12px system-ui, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", Arial, \"Noto Sans\", sans-serif, \"Apple Color Emoji\", \"Segoe UI Emoji\", \"Segoe UI Symbol\", \"Noto Color Emoji\"", fr = "bold " + dr, pr = 1.5, mr = {
	show: !0,
	scale: "x",
	stroke: we,
	space: 50,
	gap: 5,
	alignTo: 1,
	size: 50,
	labelGap: 0,
	labelSize: 30,
	labelFont: fr,
	side: 2,
	grid: cr,
	ticks: lr,
	border: ur,
	font: dr,
	lineGap: pr,
	rotate: 0
}, hr = "Value", gr = "Time", _r = {
	show: !0,
	scale: "x",
	auto: !1,
	sorted: 1,
	min: L,
	max: -Infinity,
	idxs: []
};
function vr(e, t, n, r, i) {
	return t.map((e) => e == null ? "" : gt(e));
}
function yr(e, t, n, r, i, a, o) {
	let s = [], c = Ht.get(i) || 0;
	n = o ? n : z(Bt(n, i), c);
	for (let e = n; e <= r; e = z(e + i, c)) s.push(Object.is(e, -0) ? 0 : e);
	return s;
}
function br(e, t, n, r, i, a, o) {
	let s = [], c = e.scales[e.axes[t].scale].log;
	i = St(c, F((c == 10 ? wt : Tt)(n))), c == 10 && (i = Dn[tt(i, Dn)]);
	let l = n, u = i * c;
	c == 10 && (u = Dn[tt(u, Dn)]);
	do
		s.push(l), l += i, c == 10 && !Ht.has(l) && (l = z(l, Ht.get(i))), l >= u && (i = l, u = i * c, c == 10 && (u = Dn[tt(u, Dn)]));
	while (l <= r);
	return s;
}
function xr(e, t, n, r, i, a, o) {
	let s = e.scales[e.axes[t].scale].asinh, c = r > s ? br(e, t, xt(s, n), r, i) : [s], l = r >= 0 && n <= 0 ? [0] : [];
	return (n < -s ? br(e, t, xt(s, -r), -n, i) : [s]).reverse().map((e) => -e).concat(l, c);
}
var Sr = /./, Cr = /[12357]/, wr = /[125]/, Tr = /1/, Er = (e, t, n, r) => e.map((e, i) => t == 4 && e == 0 || i % r == 0 && n.test(e.toExponential()[+(e < 0)]) ? e : null);
function Dr(e, t, n, r, i) {
	let a = e.axes[n], o = a.scale, s = e.scales[o], c = e.valToPos, l = a._space, u = c(10, o), d = c(9, o) - u >= l ? Sr : c(7, o) - u >= l ? Cr : c(5, o) - u >= l ? wr : Tr;
	if (d == Tr) {
		let e = P(c(1, o) - u);
		if (e < l) return Er(t.slice().reverse(), s.distr, d, yt(l / e)).reverse();
	}
	return Er(t, s.distr, d, 1);
}
function Or(e, t, n, r, i) {
	let a = e.axes[n], o = a.scale, s = a._space, c = e.valToPos, l = P(c(1, o) - c(2, o));
	return l < s ? Er(t.slice().reverse(), 3, Sr, yt(s / l)).reverse() : t;
}
function kr(e, t, n, r) {
	return r == null ? Fe : t == null ? "" : gt(t);
}
var Ar = {
	show: !0,
	scale: "y",
	stroke: we,
	space: 30,
	gap: 5,
	alignTo: 1,
	size: 50,
	labelGap: 0,
	labelSize: 30,
	labelFont: fr,
	side: 3,
	grid: cr,
	ticks: lr,
	border: ur,
	font: dr,
	lineGap: pr,
	rotate: 0
};
function jr(e, t) {
	return z((3 + (e || 1) * 2) * t, 3);
}
function Mr(e, t) {
	let { scale: n, idxs: r } = e.series[0], i = e._data[0], a = e.valToPos(i[r[0]], n, !0), o = P(e.valToPos(i[r[1]], n, !0) - a) / (e.series[t].points.space * O);
	return r[1] - r[0] <= o;
}
var Nr = {
	scale: null,
	auto: !0,
	sorted: 0,
	min: L,
	max: -Infinity
}, Pr = (e, t, n, r, i) => i, Fr = {
	show: !0,
	auto: !0,
	sorted: 0,
	gaps: Pr,
	alpha: 1,
	facets: [H({}, Nr, { scale: "x" }), H({}, Nr, { scale: "y" })]
}, Ir = {
	scale: "y",
	auto: !0,
	sorted: 0,
	show: !0,
	spanGaps: !1,
	gaps: Pr,
	alpha: 1,
	points: {
		show: Mr,
		filter: null
	},
	values: null,
	min: L,
	max: -Infinity,
	idxs: [],
	path: null,
	clip: null
};
function Lr(e, t, n, r, i) {
	return n / 10;
}
var Rr = {
	time: w,
	auto: !0,
	distr: 1,
	log: 10,
	asinh: 1,
	min: null,
	max: null,
	dir: 1,
	ori: 0
}, zr = H({}, Rr, {
	time: !1,
	ori: 1
}), Br = {};
function Vr(e, t) {
	let n = Br[e];
	return n || (n = {
		key: e,
		plots: [],
		sub(e) {
			n.plots.push(e);
		},
		unsub(e) {
			n.plots = n.plots.filter((t) => t != e);
		},
		pub(e, t, r, i, a, o, s) {
			for (let c = 0; c < n.plots.length; c++) n.plots[c] != t && n.plots[c].pub(e, t, r, i, a, o, s);
		}
	}, e != null && (Br[e] = n)), n;
}
var Hr = 1, Ur = 2;
function Wr(e, t, n) {
	let r = e.mode, i = e.series[t], a = r == 2 ? e._data[t] : e._data, o = e.scales, s = e.bbox, c = a[0], l = r == 2 ? a[1] : a[t], u = r == 2 ? o[i.facets[0].scale] : o[e.series[0].scale], d = r == 2 ? o[i.facets[1].scale] : o[i.scale], f = s.left, p = s.top, m = s.width, h = s.height, g = e.valToPosH, _ = e.valToPosV;
	return u.ori == 0 ? n(i, c, l, u, d, g, _, f, p, m, h, $r, ti, ri, ai, si) : n(i, c, l, u, d, _, g, p, f, h, m, ei, ni, ii, oi, ci);
}
function Gr(e, t) {
	let n = 0, r = 0, i = N(e.bands, Kt);
	for (let e = 0; e < i.length; e++) {
		let a = i[e];
		a.series[0] == t ? n = a.dir : a.series[1] == t && (a.dir == 1 ? r |= 1 : r |= 2);
	}
	return [n, r == 1 ? -1 : r == 2 ? 1 : r == 3 ? 2 : 0];
}
function Kr(e, t, n, r, i) {
	let a = e.mode, o = e.series[t], s = a == 2 ? o.facets[1].scale : o.scale, c = e.scales[s];
	return i == -1 ? c.min : i == 1 ? c.max : c.distr == 3 ? c.dir == 1 ? c.min : c.max : 0;
}
function qr(e, t, n, r, i, a) {
	return Wr(e, t, (e, t, o, s, c, l, u, d, f, p, m) => {
		let h = e.pxRound, g = s.dir * (s.ori == 0 ? 1 : -1), _ = s.ori == 0 ? ti : ni, v, y;
		g == 1 ? (v = n, y = r) : (v = r, y = n);
		let b = h(l(t[v], s, p, d)), x = h(u(o[v], c, m, f)), S = h(l(t[y], s, p, d)), C = h(u(a == 1 ? c.max : c.min, c, m, f)), w = new Path2D(i);
		return _(w, S, C), _(w, b, C), _(w, b, x), w;
	});
}
function Jr(e, t, n, r, i, a) {
	let o = null;
	if (e.length > 0) {
		o = new Path2D();
		let s = t == 0 ? ri : ii, c = n;
		for (let t = 0; t < e.length; t++) {
			let n = e[t];
			if (n[1] > n[0]) {
				let e = n[0] - c;
				e > 0 && s(o, c, r, e, r + a), c = n[1];
			}
		}
		let l = n + i - c;
		l > 0 && s(o, c, r - 5, l, r + a + 10);
	}
	return o;
}
function Yr(e, t, n) {
	let r = e[e.length - 1];
	r && r[0] == t ? r[1] = n : e.push([t, n]);
}
function Xr(e, t, n, r, i, a, o) {
	let s = [], c = e.length;
	for (let l = i == 1 ? n : r; l >= n && l <= r; l += i) if (t[l] === null) {
		let u = l, d = l;
		if (i == 1) for (; ++l <= r && t[l] === null;) d = l;
		else for (; --l >= n && t[l] === null;) d = l;
		let f = a(e[u]), p = d == u ? f : a(e[d]), m = u - i;
		f = o <= 0 && m >= 0 && m < c ? a(e[m]) : f;
		let h = d + i;
		p = o >= 0 && h >= 0 && h < c ? a(e[h]) : p, p >= f && s.push([f, p]);
	}
	return s;
}
function Zr(e) {
	return e == 0 ? Mt : e == 1 ? I : (t) => zt(t, e);
}
function Qr(e) {
	let t = e == 0 ? $r : ei, n = e == 0 ? (e, t, n, r, i, a) => {
		e.arcTo(t, n, r, i, a);
	} : (e, t, n, r, i, a) => {
		e.arcTo(n, t, i, r, a);
	}, r = e == 0 ? (e, t, n, r, i) => {
		e.rect(t, n, r, i);
	} : (e, t, n, r, i) => {
		e.rect(n, t, i, r);
	};
	return (e, i, a, o, s, c = 0, l = 0) => {
		c == 0 && l == 0 ? r(e, i, a, o, s) : (c = bt(c, o / 2, s / 2), l = bt(l, o / 2, s / 2), t(e, i + c, a), n(e, i + o, a, i + o, a + s, c), n(e, i + o, a + s, i, a + s, l), n(e, i, a + s, i, a, l), n(e, i, a, i + o, a, c), e.closePath());
	};
}
var $r = (e, t, n) => {
	e.moveTo(t, n);
}, ei = (e, t, n) => {
	e.moveTo(n, t);
}, ti = (e, t, n) => {
	e.lineTo(t, n);
}, ni = (e, t, n) => {
	e.lineTo(n, t);
}, ri = Qr(0), ii = Qr(1), ai = (e, t, n, r, i, a) => {
	e.arc(t, n, r, i, a);
}, oi = (e, t, n, r, i, a) => {
	e.arc(n, t, r, i, a);
}, si = (e, t, n, r, i, a, o) => {
	e.bezierCurveTo(t, n, r, i, a, o);
}, ci = (e, t, n, r, i, a, o) => {
	e.bezierCurveTo(n, t, i, r, o, a);
};
function li(e) {
	return (e, t, n, r, i) => Wr(e, t, (t, a, o, s, c, l, u, d, f, p, m) => {
		let { pxRound: h, points: g } = t, _, v;
		s.ori == 0 ? (_ = $r, v = ai) : (_ = ei, v = oi);
		let y = z(g.width * O, 3), b = (g.size - g.width) / 2 * O, x = z(b * 2, 3), S = new Path2D(), C = new Path2D(), { left: w, top: T, width: E, height: ee } = e.bbox;
		ri(C, w - x, T - x, E + x * 2, ee + x * 2);
		let te = (e) => {
			if (o[e] != null) {
				let t = h(l(a[e], s, p, d)), n = h(u(o[e], c, m, f));
				_(S, t + b, n), v(S, t, n, b, 0, vt * 2);
			}
		};
		if (i) i.forEach(te);
		else for (let e = n; e <= r; e++) te(e);
		return {
			stroke: y > 0 ? S : null,
			fill: S,
			clip: C,
			flags: 3
		};
	});
}
function ui(e) {
	return (t, n, r, i, a, o) => {
		r != i && (a != r && o != r && e(t, n, r), a != i && o != i && e(t, n, i), e(t, n, o));
	};
}
var di = ui(ti), fi = ui(ni);
function pi(e) {
	let t = N(e?.alignGaps, 0);
	return (e, n, r, i) => Wr(e, n, (a, o, s, c, l, u, d, f, p, m, h) => {
		[r, i] = rt(s, r, i);
		let g = a.pxRound, _ = (e) => g(u(e, c, m, f)), v = (e) => g(d(e, l, h, p)), y, b;
		c.ori == 0 ? (y = ti, b = di) : (y = ni, b = fi);
		let x = c.dir * (c.ori == 0 ? 1 : -1), S = {
			stroke: new Path2D(),
			fill: null,
			clip: null,
			band: null,
			gaps: null,
			flags: Hr
		}, C = S.stroke, w = !1;
		if (i - r >= m * 4) {
			let t = (t) => e.posToVal(t, c.key, !0), n = null, a = null, l, u, d, f = _(o[x == 1 ? r : i]), p = _(o[r]), m = _(o[i]), h = t(x == 1 ? p + 1 : m - 1);
			for (let e = x == 1 ? r : i; e >= r && e <= i; e += x) {
				let r = o[e], i = (x == 1 ? r < h : r > h) ? f : _(r), c = s[e];
				i == f ? c == null ? c === null && (w = !0) : (u = c, n == null ? (y(C, i, v(u)), l = n = a = u) : u < n ? n = u : u > a && (a = u)) : (n != null && b(C, f, v(n), v(a), v(l), v(u)), c == null ? (n = a = null, c === null && (w = !0)) : (u = c, y(C, i, v(u)), n = a = l = u), f = i, h = t(f + x));
			}
			n != null && n != a && d != f && b(C, f, v(n), v(a), v(l), v(u));
		} else for (let e = x == 1 ? r : i; e >= r && e <= i; e += x) {
			let t = s[e];
			t === null ? w = !0 : t != null && y(C, _(o[e]), v(t));
		}
		let [T, E] = Gr(e, n);
		if (a.fill != null || T != 0) {
			let t = S.fill = new Path2D(C), s = v(a.fillTo(e, n, a.min, a.max, T)), c = _(o[r]), l = _(o[i]);
			x == -1 && ([l, c] = [c, l]), y(t, l, s), y(t, c, s);
		}
		if (!a.spanGaps) {
			let l = [];
			w && l.push(...Xr(o, s, r, i, x, _, t)), S.gaps = l = a.gaps(e, n, r, i, l), S.clip = Jr(l, c.ori, f, p, m, h);
		}
		return E != 0 && (S.band = E == 2 ? [qr(e, n, r, i, C, -1), qr(e, n, r, i, C, 1)] : qr(e, n, r, i, C, E)), S;
	});
}
function mi(e) {
	let t = N(e.align, 1), n = N(e.ascDesc, !1), r = N(e.alignGaps, 0), i = N(e.extend, !1);
	return (e, a, o, s) => Wr(e, a, (c, l, u, d, f, p, m, h, g, _, v) => {
		[o, s] = rt(u, o, s);
		let y = c.pxRound, { left: b, width: x } = e.bbox, S = (e) => y(p(e, d, _, h)), C = (e) => y(m(e, f, v, g)), w = d.ori == 0 ? ti : ni, T = {
			stroke: new Path2D(),
			fill: null,
			clip: null,
			band: null,
			gaps: null,
			flags: Hr
		}, E = T.stroke, ee = d.dir * (d.ori == 0 ? 1 : -1), te = C(u[ee == 1 ? o : s]), ne = S(l[ee == 1 ? o : s]), re = ne, ie = ne;
		i && t == -1 && (ie = b, w(E, ie, te)), w(E, ne, te);
		for (let e = ee == 1 ? o : s; e >= o && e <= s; e += ee) {
			let n = u[e];
			if (n == null) continue;
			let r = S(l[e]), i = C(n);
			t == 1 ? w(E, r, te) : w(E, re, i), w(E, r, i), te = i, re = r;
		}
		let ae = re;
		i && t == 1 && (ae = b + x, w(E, ae, te));
		let [oe, se] = Gr(e, a);
		if (c.fill != null || oe != 0) {
			let t = T.fill = new Path2D(E), n = C(c.fillTo(e, a, c.min, c.max, oe));
			w(t, ae, n), w(t, ie, n);
		}
		if (!c.spanGaps) {
			let i = [];
			i.push(...Xr(l, u, o, s, ee, S, r));
			let f = c.width * O / 2, p = n || t == 1 ? f : -f, m = n || t == -1 ? -f : f;
			i.forEach((e) => {
				e[0] += p, e[1] += m;
			}), T.gaps = i = c.gaps(e, a, o, s, i), T.clip = Jr(i, d.ori, h, g, _, v);
		}
		return se != 0 && (T.band = se == 2 ? [qr(e, a, o, s, E, -1), qr(e, a, o, s, E, 1)] : qr(e, a, o, s, E, se)), T;
	});
}
function hi(e, t, n, r, i, a, o = L) {
	if (e.length > 1) {
		let s = null;
		for (let c = 0, l = Infinity; c < e.length; c++) if (t[c] !== void 0) {
			if (s != null) {
				let t = P(e[c] - e[s]);
				t < l && (l = t, o = P(n(e[c], r, i, a) - n(e[s], r, i, a)));
			}
			s = c;
		}
	}
	return o;
}
function gi(e) {
	e ||= Gt;
	let t = N(e.size, [
		.6,
		L,
		1
	]), n = e.align || 0, r = e.gap || 0, i = e.radius;
	i = i == null ? [0, 0] : typeof i == "number" ? [i, 0] : i;
	let a = R(i), o = 1 - t[0], s = N(t[1], L), c = N(t[2], 1), l = N(e.disp, Gt), u = N(e.each, (e) => {}), { fill: d, stroke: f } = l;
	return (e, t, i, p) => Wr(e, t, (m, h, g, _, v, y, b, x, S, C, w) => {
		let T = m.pxRound, E = n, ee = r * O, te = s * O, ne = c * O, re, ie;
		_.ori == 0 ? [re, ie] = a(e, t) : [ie, re] = a(e, t);
		let ae = _.dir * (_.ori == 0 ? 1 : -1), oe = _.ori == 0 ? ri : ii, se = _.ori == 0 ? u : (e, t, n, r, i, a, o) => {
			u(e, t, n, i, r, o, a);
		}, ce = N(e.bands, Kt).find((e) => e.series[0] == t), le = ce == null ? 0 : ce.dir, ue = m.fillTo(e, t, m.min, m.max, le), de = T(b(ue, v, w, S)), fe, pe, me, he = C, ge = T(m.width * O), _e = !1, ve = null, ye = null, be = null, xe = null;
		d != null && (ge == 0 || f != null) && (_e = !0, ve = d.values(e, t, i, p), ye = /* @__PURE__ */ new Map(), new Set(ve).forEach((e) => {
			e != null && ye.set(e, new Path2D());
		}), ge > 0 && (be = f.values(e, t, i, p), xe = /* @__PURE__ */ new Map(), new Set(be).forEach((e) => {
			e != null && xe.set(e, new Path2D());
		})));
		let { x0: Se, size: Ce } = l;
		if (Se != null && Ce != null) {
			E = 1, h = Se.values(e, t, i, p), Se.unit == 2 && (h = h.map((t) => e.posToVal(x + t * C, _.key, !0)));
			let n = Ce.values(e, t, i, p);
			pe = Ce.unit == 2 ? n[0] * C : y(n[0], _, C, x) - y(0, _, C, x), he = hi(h, g, y, _, C, x, he), me = he - pe + ee;
		} else he = hi(h, g, y, _, C, x, he), me = he * o + ee, pe = he - me;
		me < 1 && (me = 0), ge >= pe / 2 && (ge = 0), me < 5 && (T = Mt);
		let we = me > 0, Te = he - me - (we ? ge : 0);
		pe = T(kt(Te, ne, te)), fe = (E == 0 ? pe / 2 : E == ae ? 0 : pe) - E * ae * ((E == 0 ? ee / 2 : 0) + (we ? ge / 2 : 0));
		let Ee = {
			stroke: null,
			fill: null,
			clip: null,
			band: null,
			gaps: null,
			flags: 0
		}, De = _e ? null : new Path2D(), Oe = null;
		if (ce != null) Oe = e.data[ce.series[1]];
		else {
			let { y0: n, y1: r } = l;
			n != null && r != null && (g = r.values(e, t, i, p), Oe = n.values(e, t, i, p));
		}
		let ke = re * pe, Ae = ie * pe;
		for (let n = ae == 1 ? i : p; n >= i && n <= p; n += ae) {
			let r = g[n];
			if (r == null) continue;
			if (Oe != null) {
				let e = Oe[n] ?? 0;
				if (r - e == 0) continue;
				de = b(e, v, w, S);
			}
			let i = y(_.distr != 2 || l != null ? h[n] : n, _, C, x), a = b(N(r, ue), v, w, S), o = T(i - fe), s = T(xt(a, de)), c = T(bt(a, de)), u = s - c;
			if (r != null) {
				let i = r < 0 ? Ae : ke, a = r < 0 ? ke : Ae;
				_e ? (ge > 0 && be[n] != null && oe(xe.get(be[n]), o, c + F(ge / 2), pe, xt(0, u - ge), i, a), ve[n] != null && oe(ye.get(ve[n]), o, c + F(ge / 2), pe, xt(0, u - ge), i, a)) : oe(De, o, c + F(ge / 2), pe, xt(0, u - ge), i, a), se(e, t, n, o - ge / 2, c, pe + ge, u);
			}
		}
		return ge > 0 ? Ee.stroke = _e ? xe : De : _e || (Ee._fill = m.width == 0 ? m._fill : m._stroke ?? m._fill, Ee.width = 0), Ee.fill = _e ? ye : De, Ee;
	});
}
function _i(e, t) {
	let n = N(t?.alignGaps, 0);
	return (t, r, i, a) => Wr(t, r, (o, s, c, l, u, d, f, p, m, h, g) => {
		[i, a] = rt(c, i, a);
		let _ = o.pxRound, v = (e) => _(d(e, l, h, p)), y = (e) => _(f(e, u, g, m)), b, x, S;
		l.ori == 0 ? (b = $r, S = ti, x = si) : (b = ei, S = ni, x = ci);
		let C = l.dir * (l.ori == 0 ? 1 : -1), w = v(s[C == 1 ? i : a]), T = w, E = [], ee = [];
		for (let e = C == 1 ? i : a; e >= i && e <= a; e += C) if (c[e] != null) {
			let t = s[e], n = v(t);
			E.push(T = n), ee.push(y(c[e]));
		}
		let te = {
			stroke: e(E, ee, b, S, x, _),
			fill: null,
			clip: null,
			band: null,
			gaps: null,
			flags: Hr
		}, ne = te.stroke, [re, ie] = Gr(t, r);
		if (o.fill != null || re != 0) {
			let e = te.fill = new Path2D(ne), n = y(o.fillTo(t, r, o.min, o.max, re));
			S(e, T, n), S(e, w, n);
		}
		if (!o.spanGaps) {
			let e = [];
			e.push(...Xr(s, c, i, a, C, v, n)), te.gaps = e = o.gaps(t, r, i, a, e), te.clip = Jr(e, l.ori, p, m, h, g);
		}
		return ie != 0 && (te.band = ie == 2 ? [qr(t, r, i, a, ne, -1), qr(t, r, i, a, ne, 1)] : qr(t, r, i, a, ne, ie)), te;
	});
}
function vi(e) {
	return _i(yi, e);
}
function yi(e, t, n, r, i, a) {
	let o = e.length;
	if (o < 2) return null;
	let s = new Path2D();
	if (n(s, e[0], t[0]), o == 2) r(s, e[1], t[1]);
	else {
		let n = Array(o), r = Array(o - 1), a = Array(o - 1), c = Array(o - 1);
		for (let n = 0; n < o - 1; n++) a[n] = t[n + 1] - t[n], c[n] = e[n + 1] - e[n], r[n] = a[n] / c[n];
		n[0] = r[0];
		for (let e = 1; e < o - 1; e++) r[e] === 0 || r[e - 1] === 0 || r[e - 1] > 0 != r[e] > 0 ? n[e] = 0 : (n[e] = 3 * (c[e - 1] + c[e]) / ((2 * c[e] + c[e - 1]) / r[e - 1] + (c[e] + 2 * c[e - 1]) / r[e]), isFinite(n[e]) || (n[e] = 0));
		n[o - 1] = r[o - 2];
		for (let r = 0; r < o - 1; r++) i(s, e[r] + c[r] / 3, t[r] + n[r] * c[r] / 3, e[r + 1] - c[r] / 3, t[r + 1] - n[r + 1] * c[r] / 3, e[r + 1], t[r + 1]);
	}
	return s;
}
var bi = /* @__PURE__ */ new Set();
function xi() {
	for (let e of bi) e.syncRect(!0);
}
Ie && ($e(Me, Re, xi), $e(D, Re, xi, !0), $e(Pe, Re, () => {
	q.pxRatio = O;
}));
var Si = pi(), Ci = li();
function wi(e, t, n, r) {
	return (r ? [e[0], e[1]].concat(e.slice(2)) : [e[0]].concat(e.slice(1))).map((e, r) => Ei(e, r, t, n));
}
function Ti(e, t) {
	return e.map((e, n) => n == 0 ? {} : H({}, t, e));
}
function Ei(e, t, n, r) {
	return H({}, t == 0 ? n : r, e);
}
function Di(e, t, n) {
	return t == null ? qt : [t, n];
}
var Oi = Di;
function ki(e, t, n) {
	return t == null ? qt : ft(t, n, ct, !0);
}
function Ai(e, t, n, r) {
	return t == null ? qt : ot(t, n, e.scales[r].log, !1);
}
var ji = Ai;
function Mi(e, t, n, r) {
	return t == null ? qt : st(t, n, e.scales[r].log, !1);
}
var Ni = Mi;
function Pi(e, t, n, r, i) {
	let a = xt(Ot(e), Ot(t)), o = t - e, s = tt(i / r * o, n);
	do {
		let e = n[s], t = r * e / o;
		if (t >= i && a + (e < 5 ? Ht.get(e) : 0) <= 17) return [e, t];
	} while (++s < n.length);
	return [0, 0];
}
function Fi(e) {
	let t, n;
	return e = e.replace(/(\d+)px/, (e, r) => (t = I((n = +r) * O)) + "px"), [
		e,
		t,
		n
	];
}
function Ii(e) {
	e.show && [e.font, e.labelFont].forEach((e) => {
		let t = z(e[2] * O, 1);
		e[0] = e[0].replace(/[0-9.]+px/, t + "px"), e[1] = t;
	});
}
function q(e, t, n) {
	let r = { mode: N(e.mode, 1) }, i = r.mode;
	function a(e, t, n, r) {
		let i = t.valToPct(e);
		return r + n * (t.dir == -1 ? 1 - i : i);
	}
	function o(e, t, n, r) {
		let i = t.valToPct(e);
		return r + n * (t.dir == -1 ? i : 1 - i);
	}
	function s(e, t, n, r) {
		return t.ori == 0 ? a(e, t, n, r) : o(e, t, n, r);
	}
	r.valToPosH = a, r.valToPosV = o;
	let c = !1;
	r.status = 0;
	let l = r.root = We(T);
	if (e.id != null && (l.id = e.id), Ve(l, e.class), e.title) {
		let t = We(te, l);
		t.textContent = e.title;
	}
	let u = Ue("canvas"), d = r.ctx = u.getContext("2d"), f = We(ne, l);
	$e("click", f, (e) => {
		e.target === m && (J != xi || Y != q) && Bi.click(r, e);
	}, !0);
	let p = r.under = We(re, f);
	f.appendChild(u);
	let m = r.over = We(ie, f);
	e = en(e);
	let h = +N(e.pxAlign, 1), g = Zr(h);
	(e.plugins || []).forEach((t) => {
		t.opts && (e = t.opts(r, e) || e);
	});
	let _ = e.ms || .001, v = r.series = i == 1 ? wi(e.series || [], _r, Ir, !1) : Ti(e.series || [null], Fr), y = r.axes = wi(e.axes || [], mr, Ar, !0), b = r.scales = {}, x = r.bands = e.bands || [];
	x.forEach((e) => {
		e.fill = R(e.fill || null), e.dir = N(e.dir, -1);
	});
	let S = i == 2 ? v[1].facets[0].scale : v[0].scale, C = {
		axes: ii,
		series: Gr
	}, w = (e.drawOrder || ["axes", "series"]).map((e) => C[e]);
	function we(e) {
		let t = e.distr == 3 ? (t) => wt(t > 0 ? t : e.clamp(r, t, e.min, e.max, e.key)) : e.distr == 4 ? (t) => Dt(t, e.asinh) : e.distr == 100 ? (t) => e.fwd(t) : (e) => e;
		return (n) => {
			let r = t(n), { _min: i, _max: a } = e, o = a - i;
			return (r - i) / o;
		};
	}
	function Me(t) {
		let n = b[t];
		if (n == null) {
			let r = (e.scales || Gt)[t] || Gt;
			if (r.from != null) {
				Me(r.from);
				let e = H({}, b[r.from], r, { key: t });
				e.valToPct = we(e), b[t] = e;
			} else {
				n = b[t] = H({}, t == S ? Rr : zr, r), n.key = t;
				let e = n.time, a = n.range, o = Jt(a);
				if ((t != S || i == 2 && !e) && (o && (a[0] == null || a[1] == null) && (a = {
					min: a[0] == null ? lt : {
						mode: 1,
						hard: a[0],
						soft: a[0]
					},
					max: a[1] == null ? lt : {
						mode: 1,
						hard: a[1],
						soft: a[1]
					}
				}, o = !1), !o && Zt(a))) {
					let e = a;
					a = (t, n, r) => n == null ? qt : ft(n, r, e);
				}
				n.range = R(a || (e ? Oi : t == S ? n.distr == 3 ? ji : n.distr == 4 ? Ni : Di : n.distr == 3 ? Ai : n.distr == 4 ? Mi : ki)), n.auto = R(!o && n.auto), n.clamp = R(n.clamp || Lr), n._min = n._max = null, n.valToPct = we(n);
			}
		}
	}
	Me("x"), Me("y"), i == 1 && v.forEach((e) => {
		Me(e.scale);
	}), y.forEach((e) => {
		Me(e.scale);
	});
	for (let t in e.scales) Me(t);
	let D = b[S], Ne = D.distr, Ie, ze;
	D.ori == 0 ? (Ve(l, E), Ie = a, ze = o) : (Ve(l, ee), Ie = o, ze = a);
	let k = {};
	for (let e in b) {
		let t = b[e];
		(t.min != null || t.max != null) && (k[e] = {
			min: t.min,
			max: t.max
		}, t.min = t.max = null);
	}
	let Be = e.tzDate || ((e) => new Date(I(e / _))), Ge = e.fmtDate || yn, qe = _ == 1 ? Bn(Be) : Un(Be), Ye = Gn(Be, Wn(_ == 1 ? zn : Hn, Ge)), Ze = Xn(Be, Jn(Yn, Ge)), Qe = [], j = r.legend = H({}, $n, e.legend), M = r.cursor = H({}, or, { drag: { y: i == 2 } }, e.cursor), nt = j.show, rt = M.show, it = j.markers;
	j.idxs = Qe, it.width = R(it.width), it.dash = R(it.dash), it.stroke = R(it.stroke), it.fill = R(it.fill);
	let ut, dt, mt, ht = [], gt = [], _t, F = !1, Ct = {};
	if (j.live) {
		let e = v[1] ? v[1].values : null;
		F = e != null, _t = F ? e(r, 1, 0) : { _: 0 };
		for (let e in _t) Ct[e] = Fe;
	}
	if (nt) {
		if (ut = Ue("table", de, l), mt = Ue("tbody", null, ut), j.mount(r, ut), F) {
			dt = Ue("thead", null, ut, mt);
			let e = Ue("tr", null, dt);
			for (var Tt in Ue("th", null, e), _t) Ue("th", ge, e).textContent = Tt;
		} else Ve(ut, pe), j.live && Ve(ut, fe);
	}
	let Ot = { show: !0 }, jt = { show: !1 };
	function Mt(e, t) {
		if (t == 0 && (F || !j.live || i == 2)) return qt;
		let n = [], a = Ue("tr", me, mt, mt.childNodes[t]);
		Ve(a, e.class), e.show || Ve(a, oe);
		let o = Ue("th", null, a);
		if (it.show) {
			let e = We(he, o);
			if (t > 0) {
				let n = it.width(r, t);
				n && (e.style.border = n + "px " + it.dash(r, t) + " " + it.stroke(r, t)), e.style.background = it.fill(r, t);
			}
		}
		let s = We(ge, o);
		for (var c in e.label instanceof HTMLElement ? s.appendChild(e.label) : s.textContent = e.label, t > 0 && (it.show || (s.style.color = e.width > 0 ? it.stroke(r, t) : it.fill(r, t)), Rt("click", o, (t) => {
			if (M._lock) return;
			Tn(t);
			let n = v.indexOf(e);
			if ((t.ctrlKey || t.metaKey) != j.isolate) {
				let e = v.some((e, t) => t > 0 && t != n && e.show);
				v.forEach((t, r) => {
					r > 0 && Gi(r, e ? r == n ? Ot : jt : Ot, !0, $.setSeries);
				});
			} else Gi(n, { show: !e.show }, !0, $.setSeries);
		}, !1), kn && Rt(ke, o, (t) => {
			M._lock || (Tn(t), Gi(v.indexOf(e), $i, !0, $.setSeries));
		}, !1)), _t) {
			let e = Ue("td", _e, a);
			e.textContent = "--", n.push(e);
		}
		return [a, n];
	}
	let Lt = /* @__PURE__ */ new Map();
	function Rt(e, t, n, i = !0) {
		let a = Lt.get(t) || {}, o = M.bind[e](r, t, n, i);
		o && ($e(e, t, a[e] = o), Lt.set(t, a));
	}
	function Bt(e, t, n) {
		let r = Lt.get(t) || {};
		for (let n in r) (e == null || n == e) && (et(n, t, r[n]), delete r[n]);
		e ?? Lt.delete(t);
	}
	let Vt = 0, Wt = 0, B = 0, V = 0, $t = 0, tn = 0, nn = $t, rn = tn, an = B, on = V, cn = 0, ln = 0, un = 0, dn = 0;
	r.bbox = {};
	let fn = !1, pn = !1, mn = !1, hn = !1, gn = !1, _n = !1;
	function vn(e, t, n) {
		(n || e != r.width || t != r.height) && bn(e, t), ai(!1), mn = !0, pn = !0, ui();
	}
	function bn(e, t) {
		r.width = Vt = B = e, r.height = Wt = V = t, $t = tn = 0, Cn(), wn();
		let n = r.bbox;
		cn = n.left = zt($t * O, .5), ln = n.top = zt(tn * O, .5), un = n.width = zt(B * O, .5), dn = n.height = zt(V * O, .5);
	}
	function xn() {
		let e = !1, t = 0;
		for (; !e;) {
			t++;
			let n = ni(t), i = ri(t);
			e = t == 3 || n && i, e || (bn(r.width, r.height), pn = !0);
		}
	}
	function Sn({ width: e, height: t }) {
		vn(e, t);
	}
	r.setSize = Sn;
	function Cn() {
		let e = !1, t = !1, n = !1, r = !1;
		y.forEach((i, a) => {
			if (i.show && i._show) {
				let { side: a, _size: o } = i, s = a % 2, c = o + (i.label == null ? 0 : i.labelSize);
				c > 0 && (s ? (B -= c, a == 3 ? ($t += c, r = !0) : n = !0) : (V -= c, a == 0 ? (tn += c, e = !0) : t = !0));
			}
		}), Ln[0] = e, Ln[1] = n, Ln[2] = t, Ln[3] = r, B -= er[1] + er[3], $t += er[3], V -= er[2] + er[0], tn += er[0];
	}
	function wn() {
		let e = $t + B, t = tn + V, n = $t, r = tn;
		function i(i, a) {
			switch (i) {
				case 1: return e += a, e - a;
				case 2: return t += a, t - a;
				case 3: return n -= a, n + a;
				case 0: return r -= a, r + a;
			}
		}
		y.forEach((e, t) => {
			if (e.show && e._show) {
				let t = e.side;
				e._pos = i(t, e._size), e.label != null && (e._lpos = i(t, e.labelSize));
			}
		});
	}
	if (M.dataIdx == null) {
		let e = M.hover, n = e.skip = new Set(e.skip ?? []);
		n.add(void 0);
		let r = e.prox = R(e.prox), i = e.bias ??= 0;
		M.dataIdx = (e, a, o, s) => {
			if (a == 0) return o;
			let c = o, l = r(e, a, o, s) ?? L, u = l >= 0 && l < L, d = D.ori == 0 ? B : V, f = M.left, p = t[0], m = t[a];
			if (n.has(m[o])) {
				c = null;
				let e = null, t = null, r;
				if (i == 0 || i == -1) for (r = o; e == null && r-- > 0;) n.has(m[r]) || (e = r);
				if (i == 0 || i == 1) for (r = o; t == null && r++ < m.length;) n.has(m[r]) || (t = r);
				if (e != null || t != null) {
					if (u) {
						let n = e == null ? -Infinity : Ie(p[e], D, d, 0), r = t == null ? Infinity : Ie(p[t], D, d, 0), i = f - n, a = r - f;
						i <= a ? i <= l && (c = e) : a <= l && (c = t);
					} else c = t == null ? e : e == null ? t : o - e <= t - o ? e : t;
				}
			} else u && P(f - Ie(p[o], D, d, 0)) > l && (c = null);
			return c;
		};
	}
	let Tn = (e) => {
		M.event = e;
	};
	M.idxs = Qe, M._lock = !1;
	let U = M.points;
	U.show = R(U.show), U.size = R(U.size), U.stroke = R(U.stroke), U.width = R(U.width), U.fill = R(U.fill);
	let On = r.focus = H({}, e.focus || { alpha: .3 }, M.focus), kn = On.prox >= 0, An = kn && U.one, jn = [], Mn = [], Nn = [];
	function Pn(e, t) {
		let n = U.show(r, t);
		if (n instanceof HTMLElement) return Ve(n, ue), Ve(n, e.class), Ke(n, -10, -10, B, V), m.insertBefore(n, jn[t]), n;
	}
	function Fn(e, t) {
		if (i == 1 || t > 0) {
			let t = i == 1 && b[e.scale].time, n = e.value;
			e.value = t ? Xt(n) ? Xn(Be, Jn(n, Ge)) : n || Ze : n || kr, e.label = e.label || (t ? gr : hr);
		}
		if (An || t > 0) {
			e.width = e.width == null ? 1 : e.width, e.paths = e.paths || Si || Pt, e.fillTo = R(e.fillTo || Kr), e.pxAlign = +N(e.pxAlign, h), e.pxRound = Zr(e.pxAlign), e.stroke = R(e.stroke || null), e.fill = R(e.fill || null), e._stroke = e._fill = e._paths = e._focus = null;
			let t = jr(xt(1, e.width), 1), n = e.points = H({}, {
				size: t,
				width: xt(1, t * .2),
				stroke: e.stroke,
				space: t * 2,
				paths: Ci,
				_stroke: null,
				_fill: null
			}, e.points);
			n.show = R(n.show), n.filter = R(n.filter), n.fill = R(n.fill), n.stroke = R(n.stroke), n.paths = R(n.paths), n.pxAlign = e.pxAlign;
		}
		if (nt) {
			let n = Mt(e, t);
			ht.splice(t, 0, n[0]), gt.splice(t, 0, n[1]), j.values.push(null);
		}
		if (rt) {
			Qe.splice(t, 0, null);
			let n = null;
			An ? t == 0 && (n = Pn(e, t)) : t > 0 && (n = Pn(e, t)), jn.splice(t, 0, n), Mn.splice(t, 0, 0), Nn.splice(t, 0, 0);
		}
		Oa("addSeries", t);
	}
	function In(e, t) {
		t ??= v.length, e = i == 1 ? Ei(e, t, _r, Ir) : Ei(e, t, {}, Fr), v.splice(t, 0, e), Fn(v[t], t);
	}
	r.addSeries = In;
	function W(e) {
		if (v.splice(e, 1), nt) {
			j.values.splice(e, 1), gt.splice(e, 1);
			let t = ht.splice(e, 1)[0];
			Bt(null, t.firstChild), t.remove();
		}
		rt && (Qe.splice(e, 1), jn.splice(e, 1)[0].remove(), Mn.splice(e, 1), Nn.splice(e, 1)), Oa("delSeries", e);
	}
	r.delSeries = W;
	let Ln = [
		!1,
		!1,
		!1,
		!1
	];
	function qn(e, t) {
		if (e._show = e.show, e.show) {
			let n = e.side % 2, i = b[e.scale];
			i ??= (e.scale = n ? v[1].scale : S, b[e.scale]);
			let a = i.time;
			e.size = R(e.size), e.space = R(e.space), e.rotate = R(e.rotate), Jt(e.incrs) && e.incrs.forEach((e) => {
				!Ht.has(e) && Ht.set(e, Ut(e));
			}), e.incrs = R(e.incrs || (i.distr == 2 ? En : a ? _ == 1 ? Rn : Vn : Dn)), e.splits = R(e.splits || (a && i.distr == 1 ? qe : i.distr == 3 ? br : i.distr == 4 ? xr : yr)), e.stroke = R(e.stroke), e.grid.stroke = R(e.grid.stroke), e.ticks.stroke = R(e.ticks.stroke), e.border.stroke = R(e.border.stroke);
			let o = e.values;
			e.values = Jt(o) && !Jt(o[0]) ? R(o) : a ? Jt(o) ? Gn(Be, Wn(o, Ge)) : Xt(o) ? Kn(Be, o) : o || Ye : o || vr, e.filter = R(e.filter || (i.distr >= 3 && i.log == 10 ? Dr : i.distr == 3 && i.log == 2 ? Or : Nt)), e.font = Fi(e.font), e.labelFont = Fi(e.labelFont), e._size = e.size(r, null, t, 0), e._space = e._rotate = e._incrs = e._found = e._splits = e._values = null, e._size > 0 && (Ln[t] = !0, e._el = We(ae, f));
		}
	}
	function Zn(e, t, n, r) {
		let [i, a, o, s] = n, c = t % 2, l = 0;
		return c == 0 && (s || a) && (l = t == 0 && !i || t == 2 && !o ? I(mr.size / 3) : 0), c == 1 && (i || o) && (l = t == 1 && !a || t == 3 && !s ? I(Ar.size / 2) : 0), l;
	}
	let Qn = r.padding = (e.padding || [
		Zn,
		Zn,
		Zn,
		Zn
	]).map((e) => R(N(e, Zn))), er = r._padding = Qn.map((e, t) => e(r, t, Ln, 0)), tr, G = null, K = null, nr = i == 1 ? v[0].idxs : null, rr = null, ir = !1;
	function ar(e, n) {
		if (t = e ?? [], r.data = r._data = t, i == 2) {
			tr = 0;
			for (let e = 1; e < v.length; e++) tr += t[e][0].length;
		} else {
			t.length == 0 && (r.data = r._data = t = [[]]), rr = t[0], tr = rr.length;
			let e = t;
			if (Ne == 2) {
				e = t.slice();
				let n = e[0] = Array(tr);
				for (let e = 0; e < tr; e++) n[e] = e;
			}
			r._data = t = e;
		}
		if (ai(!0), Oa("setData"), Ne == 2 && (mn = !0), n !== !1) {
			let e = D;
			e.auto(r, ir) ? sr() : Wi(S, e.min, e.max), hn ||= M.left >= 0, _n = !0, ui();
		}
	}
	r.setData = ar;
	function sr() {
		ir = !0;
		let e, n;
		i == 1 && (tr > 0 ? (G = nr[0] = 0, K = nr[1] = tr - 1, e = t[0][G], n = t[0][K], Ne == 2 ? (e = G, n = K) : e == n && (Ne == 3 ? [e, n] = ot(e, e, D.log, !1) : Ne == 4 ? [e, n] = st(e, e, D.log, !1) : D.time ? n = e + I(86400 / _) : [e, n] = ft(e, n, ct, !0))) : (G = nr[0] = e = null, K = nr[1] = n = null)), Wi(S, e, n);
	}
	let cr, lr, ur, dr, fr, pr, Sr, Cr, wr, Tr;
	function Er(e, t, n, r, i, a) {
		e ??= Te, n ??= Kt, r ??= "butt", i ??= Te, a ??= "round", e != cr && (d.strokeStyle = cr = e), i != lr && (d.fillStyle = lr = i), t != ur && (d.lineWidth = ur = t), a != fr && (d.lineJoin = fr = a), r != pr && (d.lineCap = pr = r), n != dr && d.setLineDash(dr = n);
	}
	function Mr(e, t, n, r) {
		t != lr && (d.fillStyle = lr = t), e != Sr && (d.font = Sr = e), n != Cr && (d.textAlign = Cr = n), r != wr && (d.textBaseline = wr = r);
	}
	function Nr(e, t, n, i, a = 0) {
		if (i.length > 0 && e.auto(r, ir) && (t == null || t.min == null)) {
			let t = N(G, 0), r = N(K, i.length - 1), o = n.min == null ? at(i, t, r, a, e.distr == 3) : [n.min, n.max];
			e.min = bt(e.min, n.min = o[0]), e.max = xt(e.max, n.max = o[1]);
		}
	}
	let Pr = {
		min: null,
		max: null
	};
	function Br() {
		for (let e in b) {
			let t = b[e];
			k[e] == null && (t.min == null || k[S] != null && t.auto(r, ir)) && (k[e] = Pr);
		}
		for (let e in b) {
			let t = b[e];
			k[e] == null && t.from != null && k[t.from] != null && (k[e] = Pr);
		}
		k[S] != null && ai(!0);
		let e = {};
		for (let t in k) {
			let n = k[t];
			if (n != null) {
				let a = e[t] = en(b[t], Qt);
				if (n.min != null) H(a, n);
				else if (t != S || i == 2) {
					if (tr == 0 && a.from == null) {
						let e = a.range(r, null, null, t);
						a.min = e[0], a.max = e[1];
					} else a.min = L, a.max = -Infinity;
				}
			}
		}
		if (tr > 0) {
			v.forEach((n, a) => {
				if (i == 1) {
					let i = n.scale, o = k[i];
					if (o == null) return;
					let s = e[i];
					if (a == 0) {
						let e = s.range(r, s.min, s.max, i);
						s.min = e[0], s.max = e[1], G = tt(s.min, t[0]), K = tt(s.max, t[0]), K - G > 1 && (t[0][G] < s.min && G++, t[0][K] > s.max && K--), n.min = rr[G], n.max = rr[K];
					} else n.show && n.auto && Nr(s, o, n, t[a], n.sorted);
					n.idxs[0] = G, n.idxs[1] = K;
				} else if (a > 0 && n.show && n.auto) {
					let [r, i] = n.facets, o = r.scale, s = i.scale, [c, l] = t[a], u = e[o], d = e[s];
					u != null && Nr(u, k[o], r, c, r.sorted), d != null && Nr(d, k[s], i, l, i.sorted), n.min = i.min, n.max = i.max;
				}
			});
			for (let t in e) {
				let n = e[t], i = k[t];
				if (n.from == null && (i == null || i.min == null)) {
					let e = n.range(r, n.min == L ? null : n.min, n.max == -Infinity ? null : n.max, t);
					n.min = e[0], n.max = e[1];
				}
			}
		}
		for (let t in e) {
			let n = e[t];
			if (n.from != null) {
				let i = e[n.from];
				if (i.min == null) n.min = n.max = null;
				else {
					let e = n.range(r, i.min, i.max, t);
					n.min = e[0], n.max = e[1];
				}
			}
		}
		let n = {}, a = !1;
		for (let t in e) {
			let r = e[t], i = b[t];
			if (i.min != r.min || i.max != r.max) {
				i.min = r.min, i.max = r.max;
				let e = i.distr;
				i._min = e == 3 ? wt(i.min) : e == 4 ? Dt(i.min, i.asinh) : e == 100 ? i.fwd(i.min) : i.min, i._max = e == 3 ? wt(i.max) : e == 4 ? Dt(i.max, i.asinh) : e == 100 ? i.fwd(i.max) : i.max, n[t] = a = !0;
			}
		}
		if (a) {
			v.forEach((e, t) => {
				i == 2 ? t > 0 && n.y && (e._paths = null) : n[e.scale] && (e._paths = null);
			});
			for (let e in n) mn = !0, Oa("setScale", e);
			rt && M.left >= 0 && (hn = _n = !0);
		}
		for (let e in k) k[e] = null;
	}
	function Wr(e) {
		let t = kt(G - 1, 0, tr - 1), n = kt(K + 1, 0, tr - 1);
		for (; e[t] == null && t > 0;) t--;
		for (; e[n] == null && n < tr - 1;) n++;
		return [t, n];
	}
	function Gr() {
		if (tr > 0) {
			let e = v.some((e) => e._focus) && Tr != On.alpha;
			e && (d.globalAlpha = Tr = On.alpha), v.forEach((e, n) => {
				if (n > 0 && e.show && (qr(n, !1), qr(n, !0), e._paths == null)) {
					let a = Tr;
					Tr != e.alpha && (d.globalAlpha = Tr = e.alpha);
					let o = i == 2 ? [0, t[n][0].length - 1] : Wr(t[n]);
					e._paths = e.paths(r, n, o[0], o[1]), Tr != a && (d.globalAlpha = Tr = a);
				}
			}), v.forEach((e, t) => {
				if (t > 0 && e.show) {
					let n = Tr;
					Tr != e.alpha && (d.globalAlpha = Tr = e.alpha), e._paths != null && Jr(t, !1);
					{
						let n = e._paths == null ? null : e._paths.gaps, i = e.points.show(r, t, G, K, n), a = e.points.filter(r, t, i, n);
						(i || a) && (e.points._paths = e.points.paths(r, t, G, K, a), Jr(t, !0));
					}
					Tr != n && (d.globalAlpha = Tr = n), Oa("drawSeries", t);
				}
			}), e && (d.globalAlpha = Tr = 1);
		}
	}
	function qr(e, t) {
		let n = t ? v[e].points : v[e];
		n._stroke = n.stroke(r, e), n._fill = n.fill(r, e);
	}
	function Jr(e, t) {
		let n = t ? v[e].points : v[e], { stroke: r, fill: i, clip: a, flags: o, _stroke: s = n._stroke, _fill: c = n._fill, _width: l = n.width } = n._paths;
		l = z(l * O, 3);
		let u = null, f = l % 2 / 2;
		t && c == null && (c = l > 0 ? "#fff" : s);
		let p = n.pxAlign == 1 && f > 0;
		if (p && d.translate(f, f), !t) {
			let e = cn - l / 2, t = ln - l / 2, n = un + l, r = dn + l;
			u = new Path2D(), u.rect(e, t, n, r);
		}
		t ? Xr(s, l, n.dash, n.cap, c, r, i, o, a) : Yr(e, s, l, n.dash, n.cap, c, r, i, o, u, a), p && d.translate(-f, -f);
	}
	function Yr(e, n, i, a, o, s, c, l, u, d, f) {
		let p = !1;
		u != 0 && x.forEach((m, h) => {
			if (m.series[0] == e) {
				let e = v[m.series[1]], g = t[m.series[1]], _ = (e._paths || Gt).band;
				Jt(_) && (_ = m.dir == 1 ? _[0] : _[1]);
				let y, b = null;
				e.show && _ && pt(g, G, K) ? (b = m.fill(r, h) || s, y = e._paths.clip) : _ = null, Xr(n, i, a, o, b, c, l, u, d, f, y, _), p = !0;
			}
		}), p || Xr(n, i, a, o, s, c, l, u, d, f);
	}
	function Xr(e, t, n, r, i, a, o, s, c, l, u, f) {
		Er(e, t, n, r, i), (c || l || f) && (d.save(), c && d.clip(c), l && d.clip(l)), f ? (s & 3) == 3 ? (d.clip(f), u && d.clip(u), $r(i, o), Qr(e, a, t)) : s & Ur ? ($r(i, o), d.clip(f), Qr(e, a, t)) : s & Hr && (d.save(), d.clip(f), u && d.clip(u), $r(i, o), d.restore(), Qr(e, a, t)) : ($r(i, o), Qr(e, a, t)), (c || l || f) && d.restore();
	}
	function Qr(e, t, n) {
		n > 0 && (t instanceof Map ? t.forEach((e, t) => {
			d.strokeStyle = cr = t, d.stroke(e);
		}) : t != null && e && d.stroke(t));
	}
	function $r(e, t) {
		t instanceof Map ? t.forEach((e, t) => {
			d.fillStyle = lr = t, d.fill(e);
		}) : t != null && e && d.fill(t);
	}
	function ei(e, t, n, i) {
		let a = y[e], o;
		if (i <= 0) o = [0, 0];
		else {
			let s = a._space = a.space(r, e, t, n, i);
			o = Pi(t, n, a._incrs = a.incrs(r, e, t, n, i, s), i, s);
		}
		return a._found = o;
	}
	function ti(e, t, n, r, i, a, o, s, c, l) {
		let u = o % 2 / 2;
		h == 1 && d.translate(u, u), Er(s, o, c, l, s), d.beginPath();
		let f, p, m, g, _ = i + (r == 0 || r == 3 ? -a : a);
		n == 0 ? (p = i, g = _) : (f = i, m = _);
		for (let r = 0; r < e.length; r++) t[r] != null && (n == 0 ? f = m = e[r] : p = g = e[r], d.moveTo(f, p), d.lineTo(m, g));
		d.stroke(), h == 1 && d.translate(-u, -u);
	}
	function ni(e) {
		let t = !0;
		return y.forEach((n, i) => {
			if (!n.show) return;
			let a = b[n.scale];
			if (a.min == null) {
				n._show && (t = !1, n._show = !1, ai(!1));
				return;
			}
			n._show || (t = !1, n._show = !0, ai(!1));
			let o = n.side, s = o % 2, { min: c, max: l } = a, [u, d] = ei(i, c, l, s == 0 ? B : V);
			if (d == 0) return;
			let f = a.distr == 2, p = n._splits = n.splits(r, i, c, l, u, d, f), m = a.distr == 2 ? p.map((e) => rr[e]) : p, h = a.distr == 2 ? rr[p[1]] - rr[p[0]] : u, g = n._values = n.values(r, n.filter(r, m, i, d, h), i, d, h);
			n._rotate = o == 2 ? n.rotate(r, g, i, d) : 0;
			let _ = n._size;
			n._size = yt(n.size(r, g, i, e)), _ != null && n._size != _ && (t = !1);
		}), t;
	}
	function ri(e) {
		let t = !0;
		return Qn.forEach((n, i) => {
			let a = n(r, i, Ln, e);
			a != er[i] && (t = !1), er[i] = a;
		}), t;
	}
	function ii() {
		for (let e = 0; e < y.length; e++) {
			let t = y[e];
			if (!t.show || !t._show) continue;
			let n = t.side, i = n % 2, a, o, c = t.stroke(r, e), l = n == 0 || n == 3 ? -1 : 1, [u, f] = t._found;
			if (t.label != null) {
				let s = t.labelGap * l, p = I((t._lpos + s) * O);
				Mr(t.labelFont[0], c, "center", n == 2 ? be : xe), d.save(), i == 1 ? (a = o = 0, d.translate(p, I(ln + dn / 2)), d.rotate((n == 3 ? -vt : vt) / 2)) : (a = I(cn + un / 2), o = p);
				let m = At(t.label) ? t.label(r, e, u, f) : t.label;
				d.fillText(m, a, o), d.restore();
			}
			if (f == 0) continue;
			let p = b[t.scale], m = i == 0 ? un : dn, h = i == 0 ? cn : ln, _ = t._splits, v = p.distr == 2 ? _.map((e) => rr[e]) : _, x = p.distr == 2 ? rr[_[1]] - rr[_[0]] : u, S = t.ticks, C = t.border, w = S.show ? S.size : 0, T = I(w * O), E = I((t.alignTo == 2 ? t._size - w - t.gap : t.gap) * O), ee = t._rotate * -vt / 180, te = g(t._pos * O), ne = te + (T + E) * l;
			o = i == 0 ? ne : 0, a = i == 1 ? ne : 0;
			let re = t.font[0];
			Mr(re, c, t.align == 1 ? Se : t.align == 2 ? Ce : ee > 0 ? Se : ee < 0 ? Ce : i == 0 ? "center" : n == 3 ? Ce : Se, ee || i == 1 ? "middle" : n == 2 ? be : xe);
			let ie = t.font[1] * t.lineGap, ae = _.map((e) => g(s(e, p, m, h))), oe = t._values;
			for (let e = 0; e < oe.length; e++) {
				let t = oe[e];
				if (t != null) {
					i == 0 ? a = ae[e] : o = ae[e], t = "" + t;
					let n = t.indexOf("\n") == -1 ? [t] : t.split(/\n/gm);
					for (let e = 0; e < n.length; e++) {
						let t = n[e];
						ee ? (d.save(), d.translate(a, o + e * ie), d.rotate(ee), d.fillText(t, 0, 0), d.restore()) : d.fillText(t, a, o + e * ie);
					}
				}
			}
			S.show && ti(ae, S.filter(r, v, e, f, x), i, n, te, T, z(S.width * O, 3), S.stroke(r, e), S.dash, S.cap);
			let se = t.grid;
			se.show && ti(ae, se.filter(r, v, e, f, x), i, i == 0 ? 2 : 1, i == 0 ? ln : cn, i == 0 ? dn : un, z(se.width * O, 3), se.stroke(r, e), se.dash, se.cap), C.show && ti([te], [1], +(i == 0), i == 0 ? 1 : 2, i == 1 ? ln : cn, i == 1 ? dn : un, z(C.width * O, 3), C.stroke(r, e), C.dash, C.cap);
		}
		Oa("drawAxes");
	}
	function ai(e) {
		v.forEach((t, n) => {
			n > 0 && (t._paths = null, e && (i == 1 ? (t.min = null, t.max = null) : t.facets.forEach((e) => {
				e.min = null, e.max = null;
			})));
		});
	}
	let oi = !1, si = !1, ci = [];
	function li() {
		si = !1;
		for (let e = 0; e < ci.length; e++) Oa(...ci[e]);
		ci.length = 0;
	}
	function ui() {
		oi ||= (sn(fi), !0);
	}
	function di(e, t = !1) {
		oi = !0, si = t, e(r), fi(), t && ci.length > 0 && queueMicrotask(li);
	}
	r.batch = di;
	function fi() {
		if (fn &&= (Br(), !1), mn &&= (xn(), !1), pn) {
			if (A(p, Se, $t), A(p, be, tn), A(p, ve, B), A(p, ye, V), A(m, Se, $t), A(m, be, tn), A(m, ve, B), A(m, ye, V), A(f, ve, Vt), A(f, ye, Wt), u.width = I(Vt * O), u.height = I(Wt * O), y.forEach(({ _el: e, _show: t, _size: n, _pos: r, side: i }) => {
				if (e != null) {
					if (t) {
						let t = i === 3 || i === 0 ? n : 0, a = i % 2 == 1;
						A(e, a ? "left" : "top", r - t), A(e, a ? "width" : "height", n), A(e, a ? "top" : "left", a ? tn : $t), A(e, a ? "height" : "width", a ? V : B), He(e, oe);
					} else Ve(e, oe);
				}
			}), cr = lr = ur = fr = pr = Sr = Cr = wr = dr = null, Tr = 1, fa(!0), $t != nn || tn != rn || B != an || V != on) {
				ai(!1);
				let e = B / an, t = V / on;
				if (rt && !hn && M.left >= 0) {
					M.left *= e, M.top *= t, gi && Ke(gi, I(M.left), 0, B, V), _i && Ke(_i, 0, I(M.top), B, V);
					for (let n = 0; n < jn.length; n++) {
						let r = jn[n];
						r != null && (Mn[n] *= e, Nn[n] *= t, Ke(r, yt(Mn[n]), yt(Nn[n]), B, V));
					}
				}
				if (Q.show && !gn && Q.left >= 0 && Q.width > 0) {
					Q.left *= e, Q.width *= e, Q.top *= t, Q.height *= t;
					for (let e in ha) A(Vi, e, Q[e]);
				}
				nn = $t, rn = tn, an = B, on = V;
			}
			Oa("setSize"), pn = !1;
		}
		Vt > 0 && Wt > 0 && (d.clearRect(0, 0, u.width, u.height), Oa("drawClear"), w.forEach((e) => e()), Oa("draw")), Q.show && gn && (Hi(Q), gn = !1), rt && hn && (ua(null, !0, !1), hn = !1), j.show && j.live && _n && (ca(), _n = !1), c || (c = !0, r.status = 1, Oa("ready")), ir = !1, oi = !1;
	}
	r.redraw = (e, t) => {
		mn = t || !1, e === !1 ? ui() : Wi(S, D.min, D.max);
	};
	function pi(e, n) {
		let i = b[e];
		if (i.from == null) {
			if (tr == 0) {
				let t = i.range(r, n.min, n.max, e);
				n.min = t[0], n.max = t[1];
			}
			if (n.min > n.max) {
				let e = n.min;
				n.min = n.max, n.max = e;
			}
			if (tr > 1 && n.min != null && n.max != null && n.max - n.min < 1e-16) return;
			e == S && i.distr == 2 && tr > 0 && (n.min = tt(n.min, t[0]), n.max = tt(n.max, t[0]), n.min == n.max && n.max++), k[e] = n, fn = !0, ui();
		}
	}
	r.setScale = pi;
	let mi, hi, gi, _i, vi, yi, xi, q, Li, Ri, J, Y, zi = !1, Bi = M.drag, X = Bi.x, Z = Bi.y;
	rt && (M.x && (mi = We(ce, m)), M.y && (hi = We(le, m)), D.ori == 0 ? (gi = mi, _i = hi) : (gi = hi, _i = mi), J = M.left, Y = M.top);
	let Q = r.select = H({
		show: !0,
		over: !0,
		left: 0,
		width: 0,
		top: 0,
		height: 0
	}, e.select), Vi = Q.show ? We(se, Q.over ? m : p) : null;
	function Hi(e, t) {
		if (Q.show) {
			for (let t in e) Q[t] = e[t], t in ha && A(Vi, t, e[t]);
			t !== !1 && Oa("setSelect");
		}
	}
	r.setSelect = Hi;
	function Ui(e) {
		if (v[e].show) nt && He(ht[e], oe);
		else if (nt && Ve(ht[e], oe), rt) {
			let t = An ? jn[0] : jn[e];
			t != null && Ke(t, -10, -10, B, V);
		}
	}
	function Wi(e, t, n) {
		pi(e, {
			min: t,
			max: n
		});
	}
	function Gi(e, t, n, a) {
		t.focus != null && ea(e), t.show != null && v.forEach((n, r) => {
			r > 0 && (e == r || e == null) && (n.show = t.show, Ui(r), i == 2 ? (Wi(n.facets[0].scale, null, null), Wi(n.facets[1].scale, null, null)) : Wi(n.scale, null, null), ui());
		}), n !== !1 && Oa("setSeries", e, t), a && Ma("setSeries", r, e, t);
	}
	r.setSeries = Gi;
	function Ki(e, t) {
		H(x[e], t);
	}
	function qi(e, t) {
		e.fill = R(e.fill || null), e.dir = N(e.dir, -1), t ??= x.length, x.splice(t, 0, e);
	}
	function Ji(e) {
		e == null ? x.length = 0 : x.splice(e, 1);
	}
	r.addBand = qi, r.setBand = Ki, r.delBand = Ji;
	function Yi(e, t) {
		v[e].alpha = t, rt && jn[e] != null && (jn[e].style.opacity = t), nt && ht[e] && (ht[e].style.opacity = t);
	}
	let Xi, Zi, Qi, $i = { focus: !0 };
	function ea(e) {
		if (e != Qi) {
			let t = e == null, n = On.alpha != 1;
			v.forEach((r, a) => {
				if (i == 1 || a > 0) {
					let i = t || a == 0 || a == e;
					r._focus = t ? null : i, n && Yi(a, i ? 1 : On.alpha);
				}
			}), Qi = e, n && ui();
		}
	}
	nt && kn && Rt(Ae, ut, (e) => {
		M._lock || (Tn(e), Qi != null && Gi(null, $i, !0, $.setSeries));
	});
	function ta(e, t, n) {
		let r = b[t];
		n && (e = e / O - (r.ori == 1 ? tn : $t));
		let i = B;
		r.ori == 1 && (i = V, e = i - e), r.dir == -1 && (e = i - e);
		let a = r._min, o = r._max, s = e / i, c = a + (o - a) * s, l = r.distr;
		return l == 3 ? St(10, c) : l == 4 ? Et(c, r.asinh) : l == 100 ? r.bwd(c) : c;
	}
	function na(e, n) {
		return tt(ta(e, S, n), t[0], G, K);
	}
	r.valToIdx = (e) => tt(e, t[0]), r.posToIdx = na, r.posToVal = ta, r.valToPos = (e, t, n) => b[t].ori == 0 ? a(e, b[t], n ? un : B, n ? cn : 0) : o(e, b[t], n ? dn : V, n ? ln : 0), r.setCursor = (e, t, n) => {
		J = e.left, Y = e.top, ua(null, t, n);
	};
	function ra(e, t) {
		A(Vi, Se, Q.left = e), A(Vi, ve, Q.width = t);
	}
	function ia(e, t) {
		A(Vi, be, Q.top = e), A(Vi, ye, Q.height = t);
	}
	let aa = D.ori == 0 ? ra : ia, oa = D.ori == 1 ? ra : ia;
	function sa() {
		if (nt && j.live) for (let e = +(i == 2); e < v.length; e++) {
			if (e == 0 && F) continue;
			let t = j.values[e], n = 0;
			for (let r in t) gt[e][n++].firstChild.nodeValue = t[r];
		}
	}
	function ca(e, t) {
		if (e != null && (e.idxs ? e.idxs.forEach((e, t) => {
			Qe[t] = e;
		}) : Yt(e.idx) || Qe.fill(e.idx), j.idx = Qe[0]), nt && j.live) {
			for (let e = 0; e < v.length; e++) (e > 0 || i == 1 && !F) && la(e, Qe[e]);
			sa();
		}
		_n = !1, t !== !1 && Oa("setLegend");
	}
	r.setLegend = ca;
	function la(e, n) {
		let i = v[e], a = e == 0 && Ne == 2 ? rr : t[e], o;
		F ? o = i.values(r, e, n) ?? Ct : (o = i.value(r, n == null ? null : a[n], e, n), o = o == null ? Ct : { _: o }), j.values[e] = o;
	}
	function ua(e, n, a) {
		Li = J, Ri = Y, [J, Y] = M.move(r, J, Y), M.left = J, M.top = Y, rt && (gi && Ke(gi, I(J), 0, B, V), _i && Ke(_i, 0, I(Y), B, V));
		let o, s = G > K;
		Xi = L, Zi = null;
		let c = D.ori == 0 ? B : V, l = D.ori == 1 ? B : V;
		if (J < 0 || tr == 0 || s) {
			o = M.idx = null;
			for (let e = 0; e < v.length; e++) {
				let t = jn[e];
				t != null && Ke(t, -10, -10, B, V);
			}
			kn && Gi(null, $i, !0, e == null && $.setSeries), j.live && (Qe.fill(o), _n = !0);
		} else {
			let e, n, a;
			i == 1 && (e = D.ori == 0 ? J : Y, n = ta(e, S), o = M.idx = tt(n, t[0], G, K), a = Ie(t[0][o], D, c, 0));
			let s = -10, u = -10, d = 0, f = 0, p = !0, m = "", h = "";
			for (let e = +(i == 2); e < v.length; e++) {
				let g = v[e], _ = Qe[e], y = _ == null ? null : i == 1 ? t[e][_] : t[e][1][_], x = M.dataIdx(r, e, o, n), S = x == null ? null : i == 1 ? t[e][x] : t[e][1][x];
				if (_n = _n || S != y || x != _, Qe[e] = x, e > 0 && g.show) {
					let n = x == null ? -10 : x == o ? a : Ie(i == 1 ? t[0][x] : t[e][0][x], D, c, 0), _ = S == null ? -10 : ze(S, i == 1 ? b[g.scale] : b[g.facets[1].scale], l, 0);
					if (kn && S != null) {
						let t = D.ori == 1 ? J : Y, n = P(On.dist(r, e, x, _, t));
						if (n < Xi) {
							let r = On.bias;
							if (r != 0) {
								let i = ta(t, g.scale), a = S >= 0 ? 1 : -1, o = i >= 0 ? 1 : -1;
								o == a && (o == 1 ? r == 1 ? S >= i : S <= i : r == 1 ? S <= i : S >= i) && (Xi = n, Zi = e);
							} else Xi = n, Zi = e;
						}
					}
					if (_n || An) {
						let t, i;
						D.ori == 0 ? (t = n, i = _) : (t = _, i = n);
						let a, o, c, l, g, v, y = !0, b = U.bbox;
						if (b != null) {
							y = !1;
							let t = b(r, e);
							c = t.left, l = t.top, a = t.width, o = t.height;
						} else c = t, l = i, a = o = U.size(r, e);
						if (v = U.fill(r, e), g = U.stroke(r, e), An) e == Zi && Xi <= On.prox && (s = c, u = l, d = a, f = o, p = y, m = v, h = g);
						else {
							let t = jn[e];
							t != null && (Mn[e] = c, Nn[e] = l, Xe(t, a, o, y), Je(t, v, g), Ke(t, yt(c), yt(l), B, V));
						}
					}
				}
			}
			if (An) {
				let e = On.prox;
				if (_n || (Qi == null ? Xi <= e : Xi > e || Zi != Qi)) {
					let e = jn[0];
					e != null && (Mn[0] = s, Nn[0] = u, Xe(e, d, f, p), Je(e, m, h), Ke(e, yt(s), yt(u), B, V));
				}
			}
		}
		if (Q.show && zi) {
			if (e != null) {
				let [t, n] = $.scales, [r, i] = $.match, [a, o] = e.cursor.sync.scales, s = e.cursor.drag;
				if (X = s._x, Z = s._y, X || Z) {
					let { left: s, top: u, width: d, height: f } = e.select, p = e.scales[a].ori, m = e.posToVal, h, g, _, v, y, x = t != null && r(t, a), S = n != null && i(n, o);
					x && X ? (p == 0 ? (h = s, g = d) : (h = u, g = f), _ = b[t], v = Ie(m(h, a), _, c, 0), y = Ie(m(h + g, a), _, c, 0), aa(bt(v, y), P(y - v))) : aa(0, c), S && Z ? (p == 1 ? (h = s, g = d) : (h = u, g = f), _ = b[n], v = ze(m(h, o), _, l, 0), y = ze(m(h + g, o), _, l, 0), oa(bt(v, y), P(y - v))) : oa(0, l);
				} else ga();
			} else {
				let e = P(Li - vi), t = P(Ri - yi);
				if (D.ori == 1) {
					let n = e;
					e = t, t = n;
				}
				X = Bi.x && e >= Bi.dist, Z = Bi.y && t >= Bi.dist;
				let n = Bi.uni;
				n == null ? Bi.x && Bi.y && (X || Z) && (X = Z = !0) : X && Z && (X = e >= n, Z = t >= n, !X && !Z && (t > e ? Z = !0 : X = !0));
				let r, i;
				X && (D.ori == 0 ? (r = xi, i = J) : (r = q, i = Y), aa(bt(r, i), P(i - r)), Z || oa(0, l)), Z && (D.ori == 1 ? (r = xi, i = J) : (r = q, i = Y), oa(bt(r, i), P(i - r)), X || aa(0, c)), !X && !Z && (aa(0, 0), oa(0, 0));
			}
		}
		if (Bi._x = X, Bi._y = Z, e == null) {
			if (a) {
				if (Aa != null) {
					let [e, t] = $.scales;
					$.values[0] = e == null ? null : ta(D.ori == 0 ? J : Y, e), $.values[1] = t == null ? null : ta(D.ori == 1 ? J : Y, t);
				}
				Ma(Ee, r, J, Y, B, V, o);
			}
			if (kn) {
				let e = a && $.setSeries, t = On.prox;
				Qi == null ? Xi <= t && Gi(Zi, $i, !0, e) : Xi > t ? Gi(null, $i, !0, e) : Zi != Qi && Gi(Zi, $i, !0, e);
			}
		}
		_n && (j.idx = o, ca()), n !== !1 && Oa("setCursor");
	}
	let da = null;
	Object.defineProperty(r, "rect", { get() {
		return da ?? fa(!1), da;
	} });
	function fa(e = !1) {
		e ? da = null : (da = m.getBoundingClientRect(), Oa("syncRect", da));
	}
	function pa(e, t, n, r, i, a, o) {
		M._lock || zi && e != null && e.movementX == 0 && e.movementY == 0 || (ma(e, t, n, r, i, a, o, !1, e != null), e == null ? ua(t, !0, !1) : ua(null, !0, !0));
	}
	function ma(e, t, n, i, a, o, c, l, u) {
		if (da ?? fa(!1), Tn(e), e != null) n = e.clientX - da.left, i = e.clientY - da.top;
		else {
			if (n < 0 || i < 0) {
				J = -10, Y = -10;
				return;
			}
			let [e, r] = $.scales, c = t.cursor.sync, [l, u] = c.values, [d, f] = c.scales, [p, m] = $.match, h = t.axes[0].side % 2 == 1, g = D.ori == 0 ? B : V, _ = D.ori == 1 ? B : V, v = h ? o : a, y = h ? a : o, x = h ? i : n, S = h ? n : i;
			if (n = d == null ? x / v * g : p(e, d) ? s(l, b[e], g, 0) : -10, i = f == null ? S / y * _ : m(r, f) ? s(u, b[r], _, 0) : -10, D.ori == 1) {
				let e = n;
				n = i, i = e;
			}
		}
		u && (t == null || t.cursor.event.type == Ee) && ((n <= 1 || n >= B - 1) && (n = zt(n, B)), (i <= 1 || i >= V - 1) && (i = zt(i, V))), l ? (vi = n, yi = i, [xi, q] = M.move(r, n, i)) : (J = n, Y = i);
	}
	let ha = {
		width: 0,
		height: 0,
		left: 0,
		top: 0
	};
	function ga() {
		Hi(ha, !1);
	}
	let _a, va, ya, ba;
	function xa(e, t, n, i, a, o, s) {
		zi = !0, X = Z = Bi._x = Bi._y = !1, ma(e, t, n, i, a, o, s, !0, !1), e != null && (Rt(Oe, Le, Sa, !1), Ma(De, r, xi, q, B, V, null));
		let { left: c, top: l, width: u, height: d } = Q;
		_a = c, va = l, ya = u, ba = d;
	}
	function Sa(e, t, n, i, a, o, s) {
		zi = Bi._x = Bi._y = !1, ma(e, t, n, i, a, o, s, !1, !0);
		let { left: c, top: l, width: u, height: d } = Q, f = u > 0 || d > 0, p = _a != c || va != l || ya != u || ba != d;
		if (f && p && Hi(Q), Bi.setScale && f && p) {
			let e = c, t = u, n = l, r = d;
			if (D.ori == 1 && (e = l, t = d, n = c, r = u), X && Wi(S, ta(e, S), ta(e + t, S)), Z) for (let e in b) {
				let t = b[e];
				e != S && t.from == null && t.min != L && Wi(e, ta(n + r, e), ta(n, e));
			}
			ga();
		} else M.lock && (M._lock = !M._lock, ua(t, !0, e != null));
		e != null && (Bt(Oe, Le), Ma(Oe, r, J, Y, B, V, null));
	}
	function Ca(e, t, n, r, i, a, o) {
		if (M._lock) return;
		Tn(e);
		let s = zi;
		if (zi) {
			let e = !0, t = !0, n, r;
			D.ori == 0 ? (n = X, r = Z) : (n = Z, r = X), n && r && (e = J <= 10 || J >= B - 10, t = Y <= 10 || Y >= V - 10), n && e && (J = J < xi ? 0 : B), r && t && (Y = Y < q ? 0 : V), ua(null, !0, !0), zi = !1;
		}
		J = -10, Y = -10, Qe.fill(null), ua(null, !0, !0), s && (zi = s);
	}
	function wa(e, t, n, i, a, o, s) {
		M._lock || (Tn(e), sr(), ga(), e != null && Ma(je, r, J, Y, B, V, null));
	}
	function Ta() {
		y.forEach(Ii), vn(r.width, r.height, !0);
	}
	$e(Pe, Re, Ta);
	let Ea = {};
	Ea.mousedown = xa, Ea.mousemove = pa, Ea.mouseup = Sa, Ea.dblclick = wa, Ea.setSeries = (e, t, n, i) => {
		let a = $.match[2];
		n = a(r, t, n), n != -1 && Gi(n, i, !0, !1);
	}, rt && (Rt(De, m, xa), Rt(Ee, m, pa), Rt(ke, m, (e) => {
		Tn(e), fa(!1);
	}), Rt(Ae, m, Ca), Rt(je, m, wa), bi.add(r), r.syncRect = fa);
	let Da = r.hooks = e.hooks || {};
	function Oa(e, t, n) {
		si ? ci.push([
			e,
			t,
			n
		]) : e in Da && Da[e].forEach((e) => {
			e.call(null, r, t, n);
		});
	}
	(e.plugins || []).forEach((e) => {
		for (let t in e.hooks) Da[t] = (Da[t] || []).concat(e.hooks[t]);
	});
	let ka = (e, t, n) => n, $ = H({
		key: null,
		setSeries: !1,
		filters: {
			pub: Ft,
			sub: Ft
		},
		scales: [S, v[1] ? v[1].scale : null],
		match: [
			It,
			It,
			ka
		],
		values: [null, null]
	}, M.sync);
	$.match.length == 2 && $.match.push(ka), M.sync = $;
	let Aa = $.key, ja = Vr(Aa);
	function Ma(e, t, n, r, i, a, o) {
		$.filters.pub(e, t, n, r, i, a, o) && ja.pub(e, t, n, r, i, a, o);
	}
	ja.sub(r);
	function Na(e, t, n, r, i, a, o) {
		$.filters.sub(e, t, n, r, i, a, o) && Ea[e](null, t, n, r, i, a, o);
	}
	r.pub = Na;
	function Pa() {
		ja.unsub(r), bi.delete(r), Lt.clear(), et(Pe, Re, Ta), l.remove(), ut?.remove(), Oa("destroy");
	}
	r.destroy = Pa;
	function Fa() {
		Oa("init", e, t), ar(t || e.data, !1), k[S] ? pi(S, k[S]) : sr(), gn = Q.show && (Q.width > 0 || Q.height > 0), hn = _n = !0, vn(e.width, e.height);
	}
	return v.forEach(Fn), y.forEach(qn), n ? n instanceof HTMLElement ? (n.appendChild(l), Fa()) : n(r, Fa) : Fa(), r;
}
q.assign = H, q.fmtNum = gt, q.rangeNum = ft, q.rangeLog = ot, q.rangeAsinh = st, q.orient = Wr, q.pxRatio = O, q.join = on, q.fmtDate = yn, q.tzDate = xn, q.sync = Vr;
{
	q.addGap = Yr, q.clipGaps = Jr;
	let e = q.paths = { points: li };
	e.linear = pi, e.stepped = mi, e.bars = gi, e.spline = vi;
}
// src/charts/marks.ts
function Li(e, t, n) {
	let { ctx: i, bbox: o, valToPos: c } = e, l = o.left + o.width;
	i.save(), i.lineWidth = devicePixelRatio, i.font = r(10 * devicePixelRatio), i.textAlign = "left", i.textBaseline = "top";
	for (let e of t) {
		let [t, r] = [c(e.at, "x", !0), c(e.until, "x", !0)];
		if (r < o.left || t > l) continue;
		if (i.strokeStyle = i.fillStyle = n(e.colour), r > t) {
			let e = Math.max(t, o.left);
			i.globalAlpha = .12, i.fillRect(e, o.top, Math.min(r, l) - e, o.height), i.globalAlpha = 1;
		}
		if (t < o.left) continue;
		i.setLineDash(e.solid ? [] : s(a));
		let u = Math.round(t) + Math.round(devicePixelRatio) % 2 / 2;
		i.beginPath(), i.moveTo(u, o.top), i.lineTo(u, o.top + o.height), i.stroke(), i.fillText(e.label, u + 3 * devicePixelRatio, o.top + devicePixelRatio);
	}
	i.restore();
}
// src/charts/overlays.ts
function Ri(e, t, n) {
	let { ctx: r, bbox: o, valToPos: c } = e, [l, u] = [o.left + o.width, o.top + o.height];
	r.save(), r.lineWidth = devicePixelRatio;
	for (let e of t) {
		r.strokeStyle = n(e.colour), r.setLineDash(s(e.look === "dotted" ? a : i));
		let t = c(e.at, e.along, !0);
		if (r.beginPath(), e.along === "y") {
			if (t < o.top || t > u) continue;
			r.moveTo(o.left, t), r.lineTo(l, t);
		} else {
			if (t < o.left || t > l) continue;
			r.moveTo(t, o.top), r.lineTo(t, u);
		}
		r.stroke();
	}
	r.restore();
}
function J(e, t, n) {
	let { ctx: r, bbox: i, valToPos: a } = e, [o, s] = [i.top + i.height, 3 * devicePixelRatio];
	r.save(), r.lineWidth = devicePixelRatio;
	for (let e of t) {
		r.strokeStyle = n(e.colour), r.beginPath();
		for (let t of e.x) {
			let e = a(t, "x", !0);
			e < i.left || e > i.left + i.width || (r.moveTo(e - s, o - s), r.lineTo(e + s, o + s), r.moveTo(e - s, o + s), r.lineTo(e + s, o - s));
		}
		r.stroke();
	}
	r.restore();
}
function Y(e, t, n) {
	let { ctx: r, bbox: i, valToPos: a } = e, o = Math.max(a(t.begin, "x", !0), i.left), s = Math.min(a(t.end, "x", !0), i.left + i.width) - o;
	s <= 0 || s >= i.width || (r.save(), r.globalAlpha = .15, r.fillStyle = n("--muted"), r.fillRect(o, i.top, s, i.height), r.restore());
}
function zi(e, t, n) {
	let { ctx: i, valToPos: a } = e;
	i.save(), i.font = r(11 * devicePixelRatio), i.textAlign = "left", i.textBaseline = "middle", i.fillStyle = i.strokeStyle = n("--ink"), i.lineWidth = 1.5 * devicePixelRatio;
	for (let e of t) for (let [t, n] of e.y.entries()) {
		let [r, o] = [a(n, "y", !0), a(e.ends?.[t] ?? 0, "x", !0)];
		e.begins && (i.beginPath(), i.moveTo(a(e.begins[t], "x", !0), r), i.lineTo(o, r), i.stroke());
		let s = e.words?.[t];
		s && i.fillText(s, o + 5 * devicePixelRatio, r);
	}
	i.restore();
}
// src/charts/paths.ts
var Bi = /* @__PURE__ */ new Set([
	"dots",
	"discs",
	"circles",
	"squares",
	"crosses"
]), X = 96 / 72, Z = (e) => ({
	x: (t) => e.valToPos(t, "x", !0),
	y: (t) => e.valToPos(t, "y", !0),
	min: e.scales.x.min,
	max: e.scales.x.max
});
function Q({ x: e, y: t, min: r, max: i }, a) {
	let o = new Path2D(), s = Math.max(n(a.x, r) - 1, 0), c = Math.min(n(a.x, i) + 1, a.x.length), l = (e) => a.low?.[e] ?? 0;
	for (let n = s; n < c; n += 1) n > s ? o.lineTo(e(a.x[n]), t(a.y[n - 1])) : o.moveTo(e(a.x[n]), t(a.y[n])), o.lineTo(e(a.x[n]), t(a.y[n]));
	for (let n = c - 1; n >= s; --n) o.lineTo(e(a.x[n]), t(l(n))), n > s && o.lineTo(e(a.x[n]), t(l(n - 1)));
	return o.closePath(), {
		stroke: null,
		fill: o
	};
}
function Vi({ x: e, y: t, min: n, max: r }, i) {
	let [a, o] = [new Path2D(), new Path2D()], s = i.size * X * devicePixelRatio / 2;
	for (let [c, l] of i.x.entries()) {
		if (l < n || l > r || Number.isNaN(i.y[c])) continue;
		let [u, d] = [e(l), t(i.y[c])];
		i.begins && i.ends && (o.moveTo(e(i.begins[c]), d), o.lineTo(e(i.ends[c]), d)), i.kind === "crosses" ? (a.moveTo(u - s, d - s), a.lineTo(u + s, d + s), a.moveTo(u - s, d + s), a.lineTo(u + s, d - s)) : i.kind === "squares" ? a.rect(u - s, d - s, 2 * s, 2 * s) : (a.moveTo(u + s, d), a.arc(u, d, s, 0, 2 * Math.PI));
	}
	let c = i.kind === "crosses" || i.kind === "circles";
	return c && a.addPath(o), c ? {
		stroke: a,
		fill: null
	} : {
		stroke: o,
		fill: a
	};
}
function Hi({ x: e, y: t, min: n, max: r }, i) {
	let [a, o] = [new Path2D(), new Path2D()], s = 2.5 * devicePixelRatio;
	for (let [c, l] of i.x.entries()) {
		let u = i.toX?.[c] ?? l;
		if (l > r || u < n) continue;
		let [d, f] = [e(l), t(i.y[c])];
		a.moveTo(d, t(i.low?.[c] ?? i.y[c])), a.lineTo(e(u), f), i.tipped && (o.moveTo(d - s, f - s * 1.6), o.lineTo(d + s, f - s * 1.6), o.lineTo(d, f), o.closePath());
	}
	return {
		stroke: a,
		fill: o
	};
}
function Ui({ x: e, y: t }, n) {
	let r = new Path2D();
	for (let [i, a] of n.x.entries()) {
		let [o, s] = [e(a), e(n.toX?.[i] ?? a)], c = t(n.y[i] - n.size / 2), l = t(n.y[i] + n.size / 2) - c;
		r.rect(o, c, Math.max(s - o, devicePixelRatio), l);
	}
	return {
		stroke: null,
		fill: r
	};
}
var Wi = {
	area: Q,
	strokes: Hi,
	bars: Ui
}, Gi = (e) => e in Wi;
function Ki(e, t, n, r) {
	let a = Gi(e.kind) ? Wi[e.kind] : Bi.has(e.kind) ? Vi : null, s = e.listed === !1 && (a === null ? r : a !== Vi || e.size > 4), c = e.kind === "strokes" && e.tipped === !0, l = a ? void 0 : e.dashed ? i : e.dashes && o(e.dashes);
	return {
		label: e.name,
		...s ? { class: "unlisted" } : c ? { class: "silent" } : {},
		stroke: () => t(e.colour),
		fill: () => t(e.colour),
		width: a === Vi ? 1.3 : Math.max(e.size * .9, .8),
		alpha: e.opacity ?? 1,
		cap: e.kind === "strokes" ? "round" : "butt",
		...l ? { dash: l } : {},
		spanGaps: e.kind !== "line",
		points: { show: !1 },
		paths: a ? (t) => a(Z(t), e) : qi(e.kind),
		value: (e, t) => c ? "" : u(t, n)
	};
}
function qi(e) {
	let t = {
		"steps-before": -1,
		"steps-after": 1
	}[e], n = t ? q.paths.stepped({ align: t }) : q.paths.linear();
	return (...e) => {
		let t = n(...e);
		return t && {
			...t,
			fill: null
		};
	};
}
function Ji(e) {
	if (e.kind === "bars") return [[], []];
	let t = /* @__PURE__ */ new Map();
	for (let [n, r] of e.x.entries()) t.set(r, Number.isNaN(e.y[n]) ? null : e.y[n]);
	let n = [...t.keys()].sort((e, t) => e - t);
	return [n, n.map((e) => t.get(e) ?? null)];
}
// src/charts/panel.ts
var Yi = .06;
function Xi(e, n, r) {
	let { chart: i, colour: a } = r, o = e.appendChild($i("div", "head"));
	o.appendChild($i("b")).textContent = n.title;
	let s = t(n, r.xs), f = i.axes[n.x], p = i.rows[r.row + 1]?.[r.column], m = p?.x !== n.x && f.label !== "", h = n.part, g = h && o.appendChild($i("button")), _ = ({ min: e, max: t }) => e === f.reach[0] && t === f.reach[1], v = s.map(Ji), y = s.some((e) => e.kind === "bars"), b = new q({
		width: Math.max(e.clientWidth, 200),
		height: i.heights[r.row] + (p ? m ? 18 : 0 : 30),
		padding: [
			8,
			14,
			0,
			0
		],
		scales: {
			x: {
				time: !1,
				auto: !1,
				min: f.reach[0],
				max: f.reach[1],
				range: (e, t, n) => [t, n],
				...Zi(f)
			},
			y: {
				...Zi(n.y),
				...n.y.names ? { dir: -1 } : {},
				range: (e, t, r) => ta(e, n, s, t, r)
			}
		},
		series: [{
			label: f.label,
			value: (e, t) => u(t, h ? 9 : 6)
		}, ...s.map((e, t) => {
			let n = s.slice(0, t).some(({ name: t }) => t === e.name);
			return Ki(e, a, h ? 8 : 4, n);
		})],
		axes: [{
			...d(a, 12),
			size: 26,
			label: m ? f.label : "",
			labelSize: m ? 18 : 0,
			values: (e, t) => t.map(f.logarithmic ? l : c)
		}, {
			...d(a, 12),
			label: n.y.label,
			labelSize: n.y.label ? 18 : 0,
			...ea(n.y)
		}],
		cursor: {
			sync: {
				key: r.group,
				scales: ["x", null]
			},
			drag: {
				x: !0,
				y: !1
			},
			bind: { dblclick: (e) => () => (e.setScale("x", {
				min: f.reach[0],
				max: f.reach[1]
			}), null) },
			points: h ? { show: !1 } : { size: 6 }
		},
		legend: {
			show: !y,
			mount: (e, t) => o.appendChild(t),
			markers: {
				width: 0,
				fill: (e, t) => t ? a(s[t - 1].colour) : "transparent"
			}
		},
		hooks: {
			setScale: [(e, t) => {
				t === "x" && (r.moved(e, n.x), g && (g.textContent = _(e.scales.x) ? `Show ${h.name}` : "Show all of it"));
			}],
			drawAxes: h ? [(e) => Y(e, h, a)] : [],
			draw: [
				(e) => Ri(e, n.levels, a),
				(e) => J(e, n.feet, a),
				(e) => Li(e, n.marks, a),
				...y ? [(e) => zi(e, s, a)] : []
			],
			...y ? { setCursor: [ia(o, n, s)] } : {}
		}
	}, v.some(([e]) => e.length) ? q.join(v) : Qi(f.reach, s.length), e);
	return g?.addEventListener("click", () => {
		let [e, t] = _(b.scales.x) ? [h.begin, h.end] : f.reach;
		b.setScale("x", {
			min: e,
			max: t
		});
	}), ra(o, n), n.note && (e.appendChild($i("p", "note")).textContent = n.note), b;
}
var Zi = (e) => e.logarithmic ? { distr: 3 } : {}, Qi = (e, t) => [[...e], ...Array.from({ length: t }, () => [null, null])];
function $i(e, t = "") {
	let n = document.createElement(e);
	return t && (n.className = t), n;
}
function ea(e) {
	let t = (e) => Math.min(Math.max(52, 14 + 7 * Math.max(0, ...(e ?? []).map((e) => e.length))), 260);
	if (e.names) {
		let n = e.names.map((e) => e.length > 34 ? `${e.slice(0, 33)}…` : e);
		return {
			splits: () => n.map((e, t) => t),
			values: () => n,
			size: () => t(n),
			grid: { show: !1 }
		};
	}
	return {
		size: (e, n) => t(n),
		space: 26,
		values: (t, n) => n.map(e.logarithmic ? l : c)
	};
}
function ta(e, t, n, r, i) {
	let { names: a, low: o, high: s } = t.y;
	if (a) return [-.6, a.length - .4];
	if (t.part) return na(e, n);
	let c = t.levels.filter((e) => e.along === "y").map((e) => e.at), [l, u] = [Math.min(r ?? Infinity, ...c), Math.max(i ?? -Infinity, ...c)];
	if (l > u) return [o ?? 0, s ?? 1];
	let d = (u - (o ?? l) || Math.abs(u) || 1) * Yi;
	return [o ?? l - d, s ?? u + d];
}
function na(e, t) {
	let [r, i] = e.series[0].idxs, [a, o] = [e.data[0][r], e.data[0][i]], [s, c] = [Infinity, -Infinity];
	for (let e of t) {
		if (e.ignored) continue;
		let t = n(e.x, o);
		for (let r = Math.max(n(e.x, a) - 1, 0); r < t; r += 1) e.toX && e.toX[r] < a || (s = Math.min(s, e.low?.[r] ?? e.y[r]), c = Math.max(c, e.y[r]));
	}
	if (s > c) return [0, 1];
	let l = c - s || c || 1;
	return [s - .05 * l, c + .25 * l];
}
function ra(e, t) {
	for (let n of t.levels.filter((e) => e.name)) {
		let t = e.appendChild($i("span", `level ${n.look}`));
		t.textContent = n.name, t.style.setProperty("--of", `var(${n.colour})`);
	}
	for (let n of t.feet) {
		let t = e.appendChild($i("span", "foot"));
		t.textContent = n.name, t.style.setProperty("--of", `var(${n.colour})`);
	}
}
function ia(e, t, n) {
	let r = e.appendChild($i("span", "values-at-cursor"));
	return (e) => {
		let { left: i = -1, top: a = -1 } = e.cursor;
		if (r.textContent = "", i < 0 || a < 0) return;
		let [o, s] = [e.posToVal(i, "x"), e.posToVal(a, "y")];
		for (let e of n) {
			let n = e.x.findIndex((t, n) => t <= o && o <= (e.toX?.[n] ?? t) && Math.abs(e.y[n] - s) <= e.size / 2);
			if (n < 0 || e.kind !== "bars") continue;
			let i = t.y.names?.[Math.round(e.y[n])] ?? "", [a, c] = [u(e.x[n], 4), u(e.toX?.[n], 4)];
			r.textContent = `${i === e.name ? i : `${i}, ${e.name}`}: ${e.words?.[n] ?? `${a} to ${c}`}`;
		}
	};
}
// src/charts/chart.ts
var aa = 0;
function oa(t, n, r) {
	let i = n.xs.map(e), a = `chart${aa += 1}`, o = [], s = !1;
	if (t.classList.add("drawn"), t.dataset.name = n.name, t.setAttribute("role", n.rows.some((e) => e.some((e) => e.part)) ? "group" : "img"), t.setAttribute("aria-label", n.title), n.note) {
		let e = t.appendChild(document.createElement("p"));
		e.className = "note", e.textContent = n.note;
	}
	function c(e, t) {
		if (s) return;
		s = !0;
		let { min: n, max: r } = e.scales.x;
		for (let i of o) i.plot !== e && i.axis === t && i.plot.setScale("x", {
			min: n,
			max: r
		});
		s = !1;
	}
	for (let [e, s] of n.rows.entries()) {
		let l = t.appendChild(document.createElement("div"));
		l.className = "row", l.style.gridTemplateColumns = n.widths.map((e) => `minmax(0, ${e}fr)`).join(" ");
		for (let [t, u] of s.entries()) {
			let s = l.appendChild(document.createElement("div")), d = {
				chart: n,
				xs: i,
				row: e,
				column: t,
				group: `${a}-${u.x}`,
				colour: r,
				moved: c
			};
			o.push({
				plot: Xi(s, u, d),
				box: s,
				panel: u,
				axis: u.x
			});
		}
	}
	return {
		fit: () => {
			for (let { plot: e, box: t } of o) t.clientWidth && t.clientWidth !== e.width && e.setSize({
				width: t.clientWidth,
				height: e.height
			});
		},
		show: (e, t) => {
			for (let { plot: n } of o) n.series.forEach((r, i) => {
				i > 0 && r.label === e && r.show !== t && n.setSeries(i, { show: t });
			});
		},
		repaint: () => o.forEach(({ plot: e }) => e.redraw(!1)),
		picture: () => m(t, n, o, r),
		csv: () => y(n, i),
		destroy: () => o.forEach(({ plot: e }) => e.destroy())
	};
}
// src/report/saving.ts
function sa(e, t) {
	let n = document.createElement("span");
	return n.className = "hint", n.append(" Drag to zoom, double-click to zoom out. Save as ", ca("PNG", t, () => e.picture().toBlob((e) => e && C(`${t.name}.png`, e))), " or ", ca("CSV", t, () => C(`${t.name}.csv`, new Blob([e.csv()], { type: "text/csv" }))), "."), n;
}
function ca(e, t, n) {
	let r = document.createElement("button");
	return r.type = "button", r.textContent = e, r.setAttribute("aria-label", `${e} of ${t.title}`), r.addEventListener("click", n), r;
}
// src/notebook/main.ts
function la() {
	let { body: e, documentElement: t } = document, n = e.dataset.jpThemeLight;
	if (n !== void 0) return n === "false";
	if (/\bvscode-(dark|light)\b/.test(e.className)) return e.classList.contains("vscode-dark");
	let r = t.getAttribute("theme");
	return r ? r === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
function ua({ model: e, el: t }) {
	let n = t.appendChild(document.createElement("div"));
	n.className = "longhaul-charts";
	let r = (e) => getComputedStyle(n).getPropertyValue(e).trim(), i = [];
	function a() {
		i.forEach((e) => e.destroy()), i = [], n.replaceChildren();
	}
	function o() {
		a();
		for (let t of e.get("charts")) {
			let e = n.appendChild(document.createElement("figure")), a = e.appendChild(document.createElement("div"));
			a.className = "chart";
			let o = oa(a, t, r);
			e.appendChild(document.createElement("figcaption")).append(`${t.title}.`, sa(o, t)), i.push(o);
		}
	}
	function s() {
		n.classList.toggle("dark", la()), i.forEach((e) => e.repaint());
	}
	let c = new ResizeObserver(() => {
		n.clientWidth && (i.length === 0 ? o() : i.forEach((e) => e.fit()));
	}), l = new MutationObserver(s), u = matchMedia("(prefers-color-scheme: dark)");
	s(), c.observe(n);
	for (let e of [document.body, document.documentElement]) l.observe(e, { attributes: !0 });
	return u.addEventListener("change", s), e.on("change:charts", o), () => {
		e.off("change:charts", o), u.removeEventListener("change", s), l.disconnect(), c.disconnect(), a();
	};
}
var da = { render: ua };
export { da as default };
