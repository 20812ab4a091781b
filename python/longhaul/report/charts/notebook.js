// src/charts/data.ts
function e(e) {
	if (Array.isArray(e)) return Float64Array.from(e, (e) => e ?? NaN);
	let t = new Float64Array(e.steps.length), n = Math.round(1 / e.step), r = 0;
	for (let [i, a] of e.steps.entries()) r = e.sums ? r + a : a, t[i] = r / n;
	return t;
}
function t(t, n) {
	return t.series.map(({ x: t, y: r, x_interval: i, y_interval: a, ...o }) => {
		let [s, c] = [n[t], e(r)], l = o.width && e(o.width), u = o.height && e(o.height), d = l ? s.map((e, t) => e + l[t]) : null;
		return {
			...o,
			x: s,
			y: c,
			low: u ? c.map((e, t) => e - u[t]) : null,
			toX: d,
			begins: i ? e(i[0]) : null,
			ends: i ? e(i[1]) : d,
			least: a ? e(a[0]) : null,
			most: a ? e(a[1]) : null
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
// src/charts/heatMap.ts
var f = 10;
function p(e, n, r, i) {
	let a = document.createElement("table");
	a.className = "heat-map", n.title && (a.createCaption().textContent = n.title);
	let o = a.createTHead().insertRow(), s = n.series.some((e) => e.name) ? `${n.rows_of} ↓ ${r.label} →` : `${r.label} →`;
	for (let e of [s, ...r.names ?? []]) {
		let t = o.appendChild(document.createElement("th"));
		t.scope = "col", t.textContent = e;
	}
	let c = a.createTBody();
	for (let e of t(n, i)) m(c.insertRow(), e, n.y, r.names?.length ?? 0);
	let l = e.appendChild(document.createElement("div"));
	l.className = "sideways", l.tabIndex = 0, l.append(a);
}
function m(e, t, n, r) {
	let i = e.appendChild(document.createElement("th"));
	i.scope = "row", i.textContent = t.name;
	for (let i = 0; i < r; i += 1) {
		let r = e.insertCell(), a = t.x.indexOf(i);
		if (a < 0 || Number.isNaN(t.y[a])) {
			r.className = "none", r.textContent = "–";
			continue;
		}
		r.className = `shade${h(t.y[a], n)}`;
		let [o, ...s] = (t.words?.[a] ?? c(t.y[a])).split("\n");
		r.append(o);
		for (let e of s) {
			let t = r.appendChild(document.createElement("small"));
			t.textContent = e;
		}
	}
}
function h(e, { low: t = 0, high: n = 1, logarithmic: r }) {
	let i = r ? Math.log : Number, a = (i(e) - i(t)) / (i(n) - i(t));
	return Math.min(Math.max(Math.round(a * 9), 0), 9);
}
function g(e, { label: t, low: n = 0, high: r = 1 }) {
	let i = e.appendChild(document.createElement("p"));
	i.className = "shades";
	let a = document.createElement("span");
	a.setAttribute("aria-hidden", "true");
	for (let e = 0; e < f; e += 1) a.appendChild(document.createElement("i")).className = `shade${e}`;
	i.append(`${t}: ${_(n)} `, a, ` ${_(r)}`);
}
var _ = (e) => c(Number(e.toPrecision(3)));
function v(e, t, n) {
	let r = t.getBoundingClientRect();
	for (let i of t.querySelectorAll(".shades, .shades i, .heat-map caption, .heat-map th, .heat-map td")) {
		let { left: t, top: a, width: o, height: s } = i.getBoundingClientRect(), c = getComputedStyle(i);
		e.fillStyle = c.backgroundColor, e.fillRect(t - r.left, a - r.top, o, s), e.fillStyle = c.color || n("--ink"), e.font = `${c.fontWeight} ${c.fontSize} ${c.fontFamily}`;
		for (let t of y(i)) b(e, t, r);
	}
}
function y(e) {
	let t = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), n = [];
	for (; t.nextNode();) n.push(t.currentNode);
	return n;
}
function b(e, t, n) {
	let r = document.createRange();
	r.selectNodeContents(t);
	let { left: i, top: a, height: o } = r.getBoundingClientRect();
	e.fillText(t.data, i - n.left, a - n.top + o / 2);
}
// src/charts/key.ts
var x = {
	discs: "●",
	circles: "○",
	squares: "■",
	crosses: "×"
}, S = 18;
function C(e, t) {
	let n = e.appendChild(document.createElement("p"));
	n.className = "key";
	for (let { name: e, colour: r, kind: i, dashed: a } of t) {
		let t = n.appendChild(document.createElement("span"));
		t.textContent = e, t.dataset.sign = x[i] ?? "", t.className = x[i] ? "sign" : a ? "stroke dashed" : "stroke", t.style.setProperty("--of", `var(${r})`);
	}
}
function w(e, t, n, a) {
	let o = t.getBoundingClientRect();
	for (let [s, c] of [...t.querySelectorAll(".key span")].entries()) {
		let { left: t, top: l, height: u } = c.getBoundingClientRect(), { name: d, kind: f, dashed: p, colour: m } = n[s], [h, g] = [t - o.left, l - o.top + u / 2];
		e.font = r(12), e.fillStyle = e.strokeStyle = a(m);
		let _ = x[f];
		_ ? e.fillText(_, h, g) : (e.setLineDash(p ? i : []), e.lineWidth = 2, e.beginPath(), e.moveTo(h, g), e.lineTo(h + S - 4, g), e.stroke(), e.setLineDash([])), e.fillStyle = a("--muted"), e.fillText(d, h + S, g);
	}
}
// src/charts/export.ts
var T = 18, E = 10;
function D(e, t, n, i) {
	let a = devicePixelRatio, o = e.getBoundingClientRect(), s = document.createElement("canvas");
	s.width = (o.width + 20) * a, s.height = (o.height + T + 20) * a;
	let c = s.getContext("2d");
	c.scale(a, a), c.fillStyle = i("--paper"), c.fillRect(0, 0, s.width, s.height), c.translate(E, E), c.textBaseline = "middle", ee(c, t.title, 0, T / 2, `600 ${r(13)}`, i("--ink")), c.translate(0, T), w(c, e, t.key, i), v(c, e, i);
	for (let { plot: e, box: t, panel: r } of n) {
		let n = e.root.getBoundingClientRect(), [s, l] = [n.left - o.left, n.top - o.top];
		c.drawImage(e.ctx.canvas, s, l, n.width, e.ctx.canvas.height / a), O(c, r, s, t.getBoundingClientRect().top - o.top, s + n.width, i);
	}
	return s;
}
function O(e, t, n, i, a, o) {
	let s = i + T / 2, c = n + ee(e, t.title, n, s, r(12), o("--ink"));
	t.title && (c += 12);
	for (let n of t.series.filter((e) => e.listed !== !1)) {
		let t = k(e, n.name, r(12)) + 26;
		if (c + t > a) break;
		e.strokeStyle = o(n.colour), e.lineWidth = 3, e.setLineDash((n.dashes ?? []).map((e) => e * 2 / 3)), e.beginPath(), e.moveTo(c, s), e.lineTo(c + 16, s), e.stroke(), ee(e, n.name, c + 20, s, r(12), o("--muted")), c += t + 8;
	}
	e.setLineDash([]);
}
function k(e, t, n) {
	return e.font = n, e.measureText(t).width;
}
function ee(e, t, n, r, i, a) {
	return e.font = i, e.fillStyle = a, e.fillText(t, n, r), k(e, t, i);
}
var A = [
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
function te(e, t) {
	return [A, ...e.rows.flat().flatMap((n) => ne(n, e, t))].map((e) => `${e.map(oe).join(",")}\r\n`).join("");
}
function ne(e, n, r) {
	let i = n.axes[e.x], [a, o] = [i, e.y].map((e) => ie(e.label || (e.names ? "name" : ""))), s = (t, n, r, ...i) => [
		e.title,
		t,
		n,
		...a,
		r,
		...o,
		...i.map(ae)
	], c = t(e, r).flatMap((t) => {
		let n = t.toX !== null && (t.kind !== "bars" || t.x.some((e) => e !== 0)), r = (e, t) => e?.[t];
		return [...t.x.entries()].filter(([e]) => !Number.isNaN(t.y[e])).map(([a, o]) => {
			let c = t.y[a], l = re(i, n ? o : t.toX?.[a] ?? o), [u, ...d] = t.low ? [
				"",
				t.low[a],
				c
			] : [
				re(e.y, c),
				r(t.least, a),
				r(t.most, a)
			], f = n ? [o, t.toX[a]] : [r(t.begins, a), t.begins ? r(t.ends, a) : void 0];
			return s(t.name, l, u, ...d, ...f);
		});
	}), l = e.feet.flatMap((e) => e.x.map((t) => s(e.name, ae(t), "", void 0, void 0, void 0, void 0)));
	return [...c, ...l];
}
var re = ({ names: e }, t) => e?.[Math.round(t)] ?? ae(t);
function ie(e) {
	let t = /^(.*?)\s*\[([^\]]*)\]\s*$/.exec(e);
	return t ? [t[1], t[2]] : [e, ""];
}
var ae = (e) => e === void 0 || Number.isNaN(e) ? "" : String(e), oe = (e) => /[",\r\n]/.test(e) ? `"${e.replaceAll("\"", "\"\"")}"` : e;
function j(e, t) {
	let n = URL.createObjectURL(t), r = document.createElement("a");
	r.href = n, r.download = e, r.click(), setTimeout(() => URL.revokeObjectURL(n), 6e4);
}
// node_modules/uplot/dist/uPlot.esm.js
var M = !0, se = "uplot", ce = "u-hz", le = "u-vt", ue = "u-title", de = "u-wrap", fe = "u-under", pe = "u-over", me = "u-axis", he = "u-off", ge = "u-select", _e = "u-cursor-x", ve = "u-cursor-y", ye = "u-cursor-pt", be = "u-legend", xe = "u-live", Se = "u-inline", Ce = "u-series", we = "u-marker", Te = "u-label", Ee = "u-value", De = "width", Oe = "height", ke = "top", Ae = "bottom", je = "left", Me = "right", Ne = "#000", Pe = "#0000", Fe = "mousemove", Ie = "mousedown", Le = "mouseup", Re = "mouseenter", ze = "mouseleave", Be = "dblclick", Ve = "resize", He = "scroll", Ue = "change", We = "dppxchange", Ge = "--", Ke = typeof window < "u", qe = Ke ? document : null, Je = Ke ? window : null, Ye = Ke ? navigator : null, N, Xe;
function Ze() {
	let e = devicePixelRatio;
	N != e && (N = e, Xe && dt(Ue, Xe, Ze), Xe = matchMedia(`(min-resolution: ${N - .001}dppx) and (max-resolution: ${N + .001}dppx)`), ut(Ue, Xe, Ze), Je.dispatchEvent(new CustomEvent(We)));
}
function Qe(e, t) {
	if (t != null) {
		let n = e.classList;
		!n.contains(t) && n.add(t);
	}
}
function $e(e, t) {
	let n = e.classList;
	n.contains(t) && n.remove(t);
}
function P(e, t, n) {
	e.style[t] = n + "px";
}
function et(e, t, n, r) {
	let i = qe.createElement(e);
	return t != null && Qe(i, t), n?.insertBefore(i, r), i;
}
function tt(e, t) {
	return et("div", e, t);
}
var nt = /* @__PURE__ */ new WeakMap();
function rt(e, t, n, r, i) {
	let a = "translate(" + t + "px," + n + "px)";
	a != nt.get(e) && (e.style.transform = a, nt.set(e, a), t < 0 || n < 0 || t > r || n > i ? Qe(e, he) : $e(e, he));
}
var it = /* @__PURE__ */ new WeakMap();
function at(e, t, n) {
	let r = t + n;
	r != it.get(e) && (it.set(e, r), e.style.background = t, e.style.borderColor = n);
}
var ot = /* @__PURE__ */ new WeakMap();
function st(e, t, n, r) {
	let i = t + "" + n;
	i != ot.get(e) && (ot.set(e, i), e.style.height = n + "px", e.style.width = t + "px", e.style.marginLeft = r ? -t / 2 + "px" : 0, e.style.marginTop = r ? -n / 2 + "px" : 0);
}
var ct = { passive: !0 }, lt = {
	...ct,
	capture: !0
};
function ut(e, t, n, r) {
	t.addEventListener(e, n, r ? lt : ct);
}
function dt(e, t, n, r) {
	t.removeEventListener(e, n, ct);
}
Ke && Ze();
function ft(e, t, n, r) {
	let i;
	n ||= 0, r ||= t.length - 1;
	let a = r <= 2147483647;
	for (; r - n > 1;) i = a ? n + r >> 1 : kt((n + r) / 2), t[i] < e ? n = i : r = i;
	return e - t[n] <= t[r] - e ? n : r;
}
function pt(e) {
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
var mt = (e) => e != null, ht = (e) => e != null && e > 0, gt = pt(mt), _t = pt(ht);
function vt(e, t, n, r = 0, i = !1) {
	let a = i ? _t : gt, o = i ? ht : mt;
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
	return [s ?? B, c ?? -B];
}
function yt(e, t, n, r) {
	let i = Ft(e), a = Ft(t);
	e == t && (i == -1 ? (e *= n, t /= n) : (e /= n, t *= n));
	let o = n == 10 ? It : Lt, s = i == 1 ? kt : jt, c = a == 1 ? jt : kt, l = s(o(z(e))), u = c(o(z(t))), d = Pt(n, l), f = Pt(n, u);
	return n == 10 && (l < 0 && (d = H(d, -l)), u < 0 && (f = H(f, -u))), r || n == 2 ? (e = d * i, t = f * a) : (e = $t(e, d), t = Qt(t, f)), [e, t];
}
function bt(e, t, n, r) {
	let i = yt(e, t, n, r);
	return e == 0 && (i[0] = 0), t == 0 && (i[1] = 0), i;
}
var xt = .1, St = {
	mode: 3,
	pad: xt
}, Ct = {
	pad: 0,
	soft: null,
	mode: 0
}, wt = {
	min: Ct,
	max: Ct
};
function Tt(e, t, n, r) {
	return dn(n) ? I(e, t, n) : (Ct.pad = n, Ct.soft = r ? 0 : null, Ct.mode = r ? 3 : 0, I(e, t, wt));
}
function F(e, t) {
	return e ?? t;
}
function Et(e, t, n) {
	for (t = F(t, 0), n = F(n, e.length - 1); t <= n;) {
		if (e[t] != null) return !0;
		t++;
	}
	return !1;
}
function I(e, t, n) {
	let r = n.min, i = n.max, a = F(r.pad, 0), o = F(i.pad, 0), s = F(r.hard, -B), c = F(i.hard, B), l = F(r.soft, B), u = F(i.soft, -B), d = F(r.mode, 0), f = F(i.mode, 0), p = t - e, m = It(p), h = Nt(z(e), z(t)), g = z(It(h) - m);
	(p < 1e-24 || g > 10) && (p = 0, (e == 0 || t == 0) && (p = 1e-24, d == 2 && l != B && (a = 0), f == 2 && u != -B && (o = 0)));
	let _ = p || h || 1e3, v = Pt(10, kt(It(_))), y = H($t(e - _ * (p == 0 ? e == 0 ? .1 : 1 : a), v / 10), 24), b = e >= l && (d == 1 || d == 3 && y <= l || d == 2 && y >= l) ? l : B, x = Nt(s, y < b && e >= b ? b : Mt(b, y)), S = H(Qt(t + _ * (p == 0 ? t == 0 ? .1 : 1 : o), v / 10), 24), C = t <= u && (f == 1 || f == 3 && S >= u || f == 2 && S <= u) ? u : -B, w = Mt(c, S > C && t <= C ? C : Nt(C, S));
	return x == w && x == 0 && (w = 100), [x, w];
}
var L = new Intl.NumberFormat(Ke ? Ye.language : "en-US"), Dt = (e) => L.format(e), R = Math, Ot = R.PI, z = R.abs, kt = R.floor, At = R.round, jt = R.ceil, Mt = R.min, Nt = R.max, Pt = R.pow, Ft = R.sign, It = R.log10, Lt = R.log2, Rt = (e, t = 1) => R.sinh(e) * t, zt = (e, t = 1) => R.asinh(e / t), B = Infinity;
function Bt(e) {
	return (It((e ^ e >> 31) - (e >> 31)) | 0) + 1;
}
function Vt(e, t, n) {
	return Mt(Nt(e, t), n);
}
function Ht(e) {
	return typeof e == "function";
}
function V(e) {
	return Ht(e) ? e : () => e;
}
var Ut = () => {}, Wt = (e) => e, Gt = (e, t) => t, Kt = (e) => null, qt = (e) => !0, Jt = (e, t) => e == t, Yt = /\.\d*?(?=9{6,}|0{6,})/gm, Xt = (e) => {
	if (cn(e) || en.has(e)) return e;
	let t = `${e}`, n = t.match(Yt);
	if (n == null) return e;
	let r = n[0].length - 1;
	if (t.indexOf("e-") != -1) {
		let [e, n] = t.split("e");
		return +`${Xt(e)}e${n}`;
	}
	return H(e, r);
};
function Zt(e, t) {
	return Xt(H(Xt(e / t)) * t);
}
function Qt(e, t) {
	return Xt(jt(Xt(e / t)) * t);
}
function $t(e, t) {
	return Xt(kt(Xt(e / t)) * t);
}
function H(e, t = 0) {
	if (cn(e)) return e;
	let n = 10 ** t;
	return At(e * n * (1 + 2 ** -52)) / n;
}
var en = /* @__PURE__ */ new Map();
function tn(e) {
	return (("" + e).split(".")[1] || "").length;
}
function nn(e, t, n, r) {
	let i = [], a = r.map(tn);
	for (let o = t; o < n; o++) {
		let t = z(o), n = H(Pt(e, o), t);
		for (let s = 0; s < r.length; s++) {
			let c = e == 10 ? +`${r[s]}e${o}` : r[s] * n, l = (o >= 0 ? 0 : t) + (o >= a[s] ? 0 : a[s]), u = e == 10 ? c : H(c, l);
			i.push(u), en.set(u, l);
		}
	}
	return i;
}
var rn = {}, an = [], on = [null, null], sn = Array.isArray, cn = Number.isInteger, ln = (e) => e === void 0;
function un(e) {
	return typeof e == "string";
}
function dn(e) {
	let t = !1;
	if (e != null) {
		let n = e.constructor;
		t = n == null || n == Object;
	}
	return t;
}
function fn(e) {
	return typeof e == "object" && !!e;
}
var pn = Object.getPrototypeOf(Uint8Array), mn = "__proto__";
function hn(e, t = dn) {
	let n;
	if (sn(e)) {
		let r = e.find((e) => e != null);
		if (sn(r) || t(r)) {
			n = Array(e.length);
			for (let r = 0; r < e.length; r++) n[r] = hn(e[r], t);
		} else n = e.slice();
	} else if (e instanceof pn) n = e.slice();
	else if (t(e)) {
		n = {};
		for (let r in e) r != mn && (n[r] = hn(e[r], t));
	} else n = e;
	return n;
}
function U(e) {
	let t = arguments;
	for (let n = 1; n < t.length; n++) {
		let r = t[n];
		for (let t in r) t != mn && (dn(e[t]) ? U(e[t], hn(r[t])) : e[t] = hn(r[t]));
	}
	return e;
}
var gn = 0, _n = 1, vn = 2;
function yn(e, t, n) {
	for (let r = 0, i, a = -1; r < t.length; r++) {
		let o = t[r];
		if (o > a) {
			for (i = o - 1; i >= 0 && e[i] == null;) e[i--] = null;
			for (i = o + 1; i < n && e[i] == null;) e[a = i++] = null;
		}
	}
}
function bn(e, t) {
	if (Cn(e)) {
		let t = e[0].slice();
		for (let n = 1; n < e.length; n++) t.push(...e[n].slice(1));
		return wn(t[0]) || (t = Sn(t)), t;
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
			let c = o[e], l = Array(i).fill(void 0), u = t ? t[n][e] : _n, d = [];
			for (let e = 0; e < c.length; e++) {
				let t = c[e], n = a.get(s[e]);
				t === null ? u != gn && (l[n] = t, u == vn && d.push(n)) : l[n] = t;
			}
			yn(l, d, i), r.push(l);
		}
	}
	return r;
}
var xn = typeof queueMicrotask > "u" ? (e) => Promise.resolve().then(e) : queueMicrotask;
function Sn(e) {
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
function Cn(e) {
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
function wn(e, t = 100) {
	let n = e.length;
	if (n <= 1) return !0;
	let r = 0, i = n - 1;
	for (; r <= i && e[r] == null;) r++;
	for (; i >= r && e[i] == null;) i--;
	if (i <= r) return !0;
	let a = Nt(1, kt((i - r + 1) / t));
	for (let t = e[r], n = r + a; n <= i; n += a) {
		let r = e[n];
		if (r != null) {
			if (r <= t) return !1;
			t = r;
		}
	}
	return !0;
}
var Tn = [
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
], En = [
	"Sunday",
	"Monday",
	"Tuesday",
	"Wednesday",
	"Thursday",
	"Friday",
	"Saturday"
];
function Dn(e) {
	return e.slice(0, 3);
}
var On = En.map(Dn), kn = {
	MMMM: Tn,
	MMM: Tn.map(Dn),
	WWWW: En,
	WWW: On
};
function An(e) {
	return (e < 10 ? "0" : "") + e;
}
function jn(e) {
	return (e < 10 ? "00" : e < 100 ? "0" : "") + e;
}
var Mn = {
	YYYY: (e) => e.getFullYear(),
	YY: (e) => (e.getFullYear() + "").slice(2),
	MMMM: (e, t) => t.MMMM[e.getMonth()],
	MMM: (e, t) => t.MMM[e.getMonth()],
	MM: (e) => An(e.getMonth() + 1),
	M: (e) => e.getMonth() + 1,
	DD: (e) => An(e.getDate()),
	D: (e) => e.getDate(),
	WWWW: (e, t) => t.WWWW[e.getDay()],
	WWW: (e, t) => t.WWW[e.getDay()],
	HH: (e) => An(e.getHours()),
	H: (e) => e.getHours(),
	h: (e) => {
		let t = e.getHours();
		return t == 0 ? 12 : t > 12 ? t - 12 : t;
	},
	AA: (e) => e.getHours() >= 12 ? "PM" : "AM",
	aa: (e) => e.getHours() >= 12 ? "pm" : "am",
	a: (e) => e.getHours() >= 12 ? "p" : "a",
	mm: (e) => An(e.getMinutes()),
	m: (e) => e.getMinutes(),
	ss: (e) => An(e.getSeconds()),
	s: (e) => e.getSeconds(),
	fff: (e) => jn(e.getMilliseconds())
};
function Nn(e, t) {
	t ||= kn;
	let n = [], r = /\{([a-z]+)\}|[^{]+/gi, i;
	for (; i = r.exec(e);) n.push(i[0][0] == "{" ? Mn[i[1]] : i[0]);
	return (e) => {
		let r = "";
		for (let i = 0; i < n.length; i++) r += typeof n[i] == "string" ? n[i] : n[i](e, t);
		return r;
	};
}
var Pn = new Intl.DateTimeFormat().resolvedOptions().timeZone;
function Fn(e, t) {
	let n;
	return t == "UTC" || t == "Etc/UTC" ? n = /* @__PURE__ */ new Date(+e + e.getTimezoneOffset() * 6e4) : t == Pn ? n = e : (n = new Date(e.toLocaleString("en-US", { timeZone: t })), n.setMilliseconds(e.getMilliseconds())), n;
}
var In = (e) => e % 1 == 0, Ln = [
	1,
	2,
	2.5,
	5
], Rn = nn(10, -32, 0, Ln), zn = nn(10, 0, 32, Ln), Bn = zn.filter(In), Vn = Rn.concat(zn), Hn = "\n", Un = "{YYYY}", W = Hn + Un, G = "{M}/{D}", Wn = Hn + G, Gn = Wn + "/{YY}", Kn = "{aa}", qn = "{h}:{mm}" + Kn, Jn = Hn + qn, Yn = ":{ss}", K = null;
function Xn(e) {
	let t = e * 1e3, n = t * 60, r = n * 60, i = r * 24, a = i * 30, o = i * 365, s = (e == 1 ? nn(10, 0, 3, Ln).filter(In) : nn(10, -3, 0, Ln)).concat([
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
			Un,
			K,
			K,
			K,
			K,
			K,
			K,
			1
		],
		[
			i * 28,
			"{MMM}",
			W,
			K,
			K,
			K,
			K,
			K,
			1
		],
		[
			i,
			G,
			W,
			K,
			K,
			K,
			K,
			K,
			1
		],
		[
			r,
			"{h}" + Kn,
			Gn,
			K,
			Wn,
			K,
			K,
			K,
			1
		],
		[
			n,
			qn,
			Gn,
			K,
			Wn,
			K,
			K,
			K,
			1
		],
		[
			t,
			Yn,
			Gn + " " + qn,
			K,
			Wn + " " + qn,
			K,
			Jn,
			K,
			1
		],
		[
			e,
			Yn + ".{fff}",
			Gn + " " + qn,
			K,
			Wn + " " + qn,
			K,
			Jn,
			K,
			1
		]
	];
	function l(t) {
		return (s, c, l, u, d, f) => {
			let p = [], m = d >= o, h = d >= a && d < o, g = t(l), _ = H(g * e, 3), v = or(g.getFullYear(), m ? 0 : g.getMonth(), h || m ? 1 : g.getDate()), y = H(v * e, 3);
			if (h || m) {
				let n = h ? d / a : 0, r = m ? d / o : 0, i = _ == y ? _ : H(or(v.getFullYear() + r, v.getMonth() + n, 1) * e, 3), s = new Date(At(i / e)), c = s.getFullYear(), l = s.getMonth();
				for (let a = 0; i <= u; a++) {
					let o = or(c + r * a, l + n * a, 1), s = o - t(H(o * e, 3));
					i = H((+o + s) * e, 3), i <= u && p.push(i);
				}
			} else {
				let a = d >= i ? i : d, o = y + (kt(l) - kt(_)) + Qt(_ - y, a);
				p.push(o);
				let m = t(o), h = m.getHours() + m.getMinutes() / n + m.getSeconds() / r, g = d / r, v = f / s.axes[c]._space;
				for (; o = H(o + d, e == 1 ? 0 : 3), !(o > u);) if (g > 1) {
					let e = kt(H(h + g, 6)) % 24, n = t(o).getHours() - e;
					n > 1 && (n = -1), o -= n * r, h = (h + g) % 24;
					let i = p[p.length - 1];
					H((o - i) / d, 3) * v >= .7 && p.push(o);
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
var [Zn, Qn, $n] = Xn(1), [er, tr, nr] = Xn(.001);
nn(2, -53, 53, [1]);
function rr(e, t) {
	return e.map((e) => e.map((n, r) => r == 0 || r == 8 || n == null ? n : t(r == 1 || e[8] == 0 ? n : e[1] + n)));
}
function ir(e, t) {
	return (n, r, i, a, o) => {
		let s = t.find((e) => o >= e[0]) || t[t.length - 1], c, l, u, d, f, p;
		return r.map((t) => {
			let n = e(t), r = n.getFullYear(), i = n.getMonth(), a = n.getDate(), o = n.getHours(), m = n.getMinutes(), h = n.getSeconds(), g = r != c && s[2] || i != l && s[3] || a != u && s[4] || o != d && s[5] || m != f && s[6] || h != p && s[7] || s[1];
			return c = r, l = i, u = a, d = o, f = m, p = h, g(n);
		});
	};
}
function ar(e, t) {
	let n = Nn(t);
	return (t, r, i, a, o) => r.map((t) => n(e(t)));
}
function or(e, t, n) {
	return new Date(e, t, n);
}
function sr(e, t) {
	return t(e);
}
var cr = "{YYYY}-{MM}-{DD} {h}:{mm}{aa}";
function lr(e, t) {
	return (n, r, i, a) => a == null ? Ge : t(e(r));
}
function ur(e, t) {
	let n = e.series[t];
	return n.width ? n.stroke(e, t) : n.points.width ? n.points.stroke(e, t) : null;
}
function dr(e, t) {
	return e.series[t].fill(e, t);
}
var fr = {
	show: !0,
	live: !0,
	isolate: !1,
	mount: Ut,
	markers: {
		show: !0,
		width: 2,
		stroke: ur,
		fill: dr,
		dash: "solid"
	},
	idx: null,
	idxs: null,
	values: []
};
function pr(e, t) {
	let n = e.cursor.points, r = tt(), i = n.size(e, t);
	P(r, De, i), P(r, Oe, i);
	let a = i / -2;
	P(r, "marginLeft", a), P(r, "marginTop", a);
	let o = n.width(e, t, i);
	return o && P(r, "borderWidth", o), r;
}
function mr(e, t) {
	let n = e.series[t].points;
	return n._fill || n._stroke;
}
function hr(e, t) {
	let n = e.series[t].points;
	return n._stroke || n._fill;
}
function gr(e, t) {
	return e.series[t].points.size;
}
var _r = [0, 0];
function vr(e, t, n) {
	return _r[0] = t, _r[1] = n, _r;
}
function yr(e, t, n, r = !0) {
	return (e) => {
		e.button != 0 || r && e.target != t || n(e);
	};
}
function br(e, t, n, r = !0) {
	return (e) => {
		r && e.target != t || n(e);
	};
}
var xr = {
	show: !0,
	x: !0,
	y: !0,
	lock: !1,
	move: vr,
	points: {
		one: !1,
		show: pr,
		size: gr,
		width: 0,
		stroke: hr,
		fill: mr
	},
	bind: {
		mousedown: yr,
		mouseup: yr,
		click: yr,
		dblclick: yr,
		mousemove: br,
		mouseleave: br,
		mouseenter: br
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
}, Sr = {
	show: !0,
	stroke: "rgba(0,0,0,0.07)",
	width: 2
}, Cr = U({}, Sr, { filter: Gt }), wr = U({}, Cr, { size: 10 }), Tr = U({}, Sr, { show: !1 }), Er = "12px system-ui, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", Arial, \"Noto Sans\", sans-serif, \"Apple Color Emoji\", \"Segoe UI Emoji\", \"Segoe UI Symbol\", \"Noto Color Emoji\"", Dr = "bold " + Er, Or = 1.5, kr = {
	show: !0,
	scale: "x",
	stroke: Ne,
	space: 50,
	gap: 5,
	alignTo: 1,
	size: 50,
	labelGap: 0,
	labelSize: 30,
	labelFont: Dr,
	side: 2,
	grid: Cr,
	ticks: wr,
	border: Tr,
	font: Er,
	lineGap: Or,
	rotate: 0
}, Ar = "Value", jr = "Time", Mr = {
	show: !0,
	scale: "x",
	auto: !1,
	sorted: 1,
	min: B,
	max: -Infinity,
	idxs: []
};
function Nr(e, t, n, r, i) {
	return t.map((e) => e == null ? "" : Dt(e));
}
function Pr(e, t, n, r, i, a, o) {
	let s = [], c = en.get(i) || 0;
	n = o ? n : H(Qt(n, i), c);
	for (let e = n; e <= r; e = H(e + i, c)) s.push(Object.is(e, -0) ? 0 : e);
	return s;
}
function Fr(e, t, n, r, i, a, o) {
	let s = [], c = e.scales[e.axes[t].scale].log;
	i = Pt(c, kt((c == 10 ? It : Lt)(n))), c == 10 && (i = Vn[ft(i, Vn)]);
	let l = n, u = i * c;
	c == 10 && (u = Vn[ft(u, Vn)]);
	do
		s.push(l), l += i, c == 10 && !en.has(l) && (l = H(l, en.get(i))), l >= u && (i = l, u = i * c, c == 10 && (u = Vn[ft(u, Vn)]));
	while (l <= r);
	return s;
}
function Ir(e, t, n, r, i, a, o) {
	let s = e.scales[e.axes[t].scale].asinh, c = r > s ? Fr(e, t, Nt(s, n), r, i) : [s], l = r >= 0 && n <= 0 ? [0] : [];
	return (n < -s ? Fr(e, t, Nt(s, -r), -n, i) : [s]).reverse().map((e) => -e).concat(l, c);
}
var Lr = /./, Rr = /[12357]/, zr = /[125]/, Br = /1/, Vr = (e, t, n, r) => e.map((e, i) => t == 4 && e == 0 || i % r == 0 && n.test(e.toExponential()[+(e < 0)]) ? e : null);
function Hr(e, t, n, r, i) {
	let a = e.axes[n], o = a.scale, s = e.scales[o], c = e.valToPos, l = a._space, u = c(10, o), d = c(9, o) - u >= l ? Lr : c(7, o) - u >= l ? Rr : c(5, o) - u >= l ? zr : Br;
	if (d == Br) {
		let e = z(c(1, o) - u);
		if (e < l) return Vr(t.slice().reverse(), s.distr, d, jt(l / e)).reverse();
	}
	return Vr(t, s.distr, d, 1);
}
function Ur(e, t, n, r, i) {
	let a = e.axes[n], o = a.scale, s = a._space, c = e.valToPos, l = z(c(1, o) - c(2, o));
	return l < s ? Vr(t.slice().reverse(), 3, Lr, jt(s / l)).reverse() : t;
}
function Wr(e, t, n, r) {
	return r == null ? Ge : t == null ? "" : Dt(t);
}
var Gr = {
	show: !0,
	scale: "y",
	stroke: Ne,
	space: 30,
	gap: 5,
	alignTo: 1,
	size: 50,
	labelGap: 0,
	labelSize: 30,
	labelFont: Dr,
	side: 3,
	grid: Cr,
	ticks: wr,
	border: Tr,
	font: Er,
	lineGap: Or,
	rotate: 0
};
function Kr(e, t) {
	return H((3 + (e || 1) * 2) * t, 3);
}
function qr(e, t) {
	let { scale: n, idxs: r } = e.series[0], i = e._data[0], a = e.valToPos(i[r[0]], n, !0), o = z(e.valToPos(i[r[1]], n, !0) - a) / (e.series[t].points.space * N);
	return r[1] - r[0] <= o;
}
var Jr = {
	scale: null,
	auto: !0,
	sorted: 0,
	min: B,
	max: -Infinity
}, Yr = (e, t, n, r, i) => i, Xr = {
	show: !0,
	auto: !0,
	sorted: 0,
	gaps: Yr,
	alpha: 1,
	facets: [U({}, Jr, { scale: "x" }), U({}, Jr, { scale: "y" })]
}, Zr = {
	scale: "y",
	auto: !0,
	sorted: 0,
	show: !0,
	spanGaps: !1,
	gaps: Yr,
	alpha: 1,
	points: {
		show: qr,
		filter: null
	},
	values: null,
	min: B,
	max: -Infinity,
	idxs: [],
	path: null,
	clip: null
};
function Qr(e, t, n, r, i) {
	return n / 10;
}
var $r = {
	time: M,
	auto: !0,
	distr: 1,
	log: 10,
	asinh: 1,
	min: null,
	max: null,
	dir: 1,
	ori: 0
}, ei = U({}, $r, {
	time: !1,
	ori: 1
}), ti = {};
function ni(e, t) {
	let n = ti[e];
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
	}, e != null && (ti[e] = n)), n;
}
var ri = 1, ii = 2;
function ai(e, t, n) {
	let r = e.mode, i = e.series[t], a = r == 2 ? e._data[t] : e._data, o = e.scales, s = e.bbox, c = a[0], l = r == 2 ? a[1] : a[t], u = r == 2 ? o[i.facets[0].scale] : o[e.series[0].scale], d = r == 2 ? o[i.facets[1].scale] : o[i.scale], f = s.left, p = s.top, m = s.width, h = s.height, g = e.valToPosH, _ = e.valToPosV;
	return u.ori == 0 ? n(i, c, l, u, d, g, _, f, p, m, h, mi, gi, vi, bi, Si) : n(i, c, l, u, d, _, g, p, f, h, m, hi, _i, yi, xi, Ci);
}
function oi(e, t) {
	let n = 0, r = 0, i = F(e.bands, an);
	for (let e = 0; e < i.length; e++) {
		let a = i[e];
		a.series[0] == t ? n = a.dir : a.series[1] == t && (a.dir == 1 ? r |= 1 : r |= 2);
	}
	return [n, r == 1 ? -1 : r == 2 ? 1 : r == 3 ? 2 : 0];
}
function si(e, t, n, r, i) {
	let a = e.mode, o = e.series[t], s = a == 2 ? o.facets[1].scale : o.scale, c = e.scales[s];
	return i == -1 ? c.min : i == 1 ? c.max : c.distr == 3 ? c.dir == 1 ? c.min : c.max : 0;
}
function ci(e, t, n, r, i, a) {
	return ai(e, t, (e, t, o, s, c, l, u, d, f, p, m) => {
		let h = e.pxRound, g = s.dir * (s.ori == 0 ? 1 : -1), _ = s.ori == 0 ? gi : _i, v, y;
		g == 1 ? (v = n, y = r) : (v = r, y = n);
		let b = h(l(t[v], s, p, d)), x = h(u(o[v], c, m, f)), S = h(l(t[y], s, p, d)), C = h(u(a == 1 ? c.max : c.min, c, m, f)), w = new Path2D(i);
		return _(w, S, C), _(w, b, C), _(w, b, x), w;
	});
}
function li(e, t, n, r, i, a) {
	let o = null;
	if (e.length > 0) {
		o = new Path2D();
		let s = t == 0 ? vi : yi, c = n;
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
function ui(e, t, n) {
	let r = e[e.length - 1];
	r && r[0] == t ? r[1] = n : e.push([t, n]);
}
function di(e, t, n, r, i, a, o) {
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
function fi(e) {
	return e == 0 ? Wt : e == 1 ? At : (t) => Zt(t, e);
}
function pi(e) {
	let t = e == 0 ? mi : hi, n = e == 0 ? (e, t, n, r, i, a) => {
		e.arcTo(t, n, r, i, a);
	} : (e, t, n, r, i, a) => {
		e.arcTo(n, t, i, r, a);
	}, r = e == 0 ? (e, t, n, r, i) => {
		e.rect(t, n, r, i);
	} : (e, t, n, r, i) => {
		e.rect(n, t, i, r);
	};
	return (e, i, a, o, s, c = 0, l = 0) => {
		c == 0 && l == 0 ? r(e, i, a, o, s) : (c = Mt(c, o / 2, s / 2), l = Mt(l, o / 2, s / 2), t(e, i + c, a), n(e, i + o, a, i + o, a + s, c), n(e, i + o, a + s, i, a + s, l), n(e, i, a + s, i, a, l), n(e, i, a, i + o, a, c), e.closePath());
	};
}
var mi = (e, t, n) => {
	e.moveTo(t, n);
}, hi = (e, t, n) => {
	e.moveTo(n, t);
}, gi = (e, t, n) => {
	e.lineTo(t, n);
}, _i = (e, t, n) => {
	e.lineTo(n, t);
}, vi = pi(0), yi = pi(1), bi = (e, t, n, r, i, a) => {
	e.arc(t, n, r, i, a);
}, xi = (e, t, n, r, i, a) => {
	e.arc(n, t, r, i, a);
}, Si = (e, t, n, r, i, a, o) => {
	e.bezierCurveTo(t, n, r, i, a, o);
}, Ci = (e, t, n, r, i, a, o) => {
	e.bezierCurveTo(n, t, i, r, o, a);
};
function q(e) {
	return (e, t, n, r, i) => ai(e, t, (t, a, o, s, c, l, u, d, f, p, m) => {
		let { pxRound: h, points: g } = t, _, v;
		s.ori == 0 ? (_ = mi, v = bi) : (_ = hi, v = xi);
		let y = H(g.width * N, 3), b = (g.size - g.width) / 2 * N, x = H(b * 2, 3), S = new Path2D(), C = new Path2D(), { left: w, top: T, width: E, height: D } = e.bbox;
		vi(C, w - x, T - x, E + x * 2, D + x * 2);
		let O = (e) => {
			if (o[e] != null) {
				let t = h(l(a[e], s, p, d)), n = h(u(o[e], c, m, f));
				_(S, t + b, n), v(S, t, n, b, 0, Ot * 2);
			}
		};
		if (i) i.forEach(O);
		else for (let e = n; e <= r; e++) O(e);
		return {
			stroke: y > 0 ? S : null,
			fill: S,
			clip: C,
			flags: 3
		};
	});
}
function J(e) {
	return (t, n, r, i, a, o) => {
		r != i && (a != r && o != r && e(t, n, r), a != i && o != i && e(t, n, i), e(t, n, o));
	};
}
var wi = J(gi), Ti = J(_i);
function Y(e) {
	let t = F(e?.alignGaps, 0);
	return (e, n, r, i) => ai(e, n, (a, o, s, c, l, u, d, f, p, m, h) => {
		[r, i] = gt(s, r, i);
		let g = a.pxRound, _ = (e) => g(u(e, c, m, f)), v = (e) => g(d(e, l, h, p)), y, b;
		c.ori == 0 ? (y = gi, b = wi) : (y = _i, b = Ti);
		let x = c.dir * (c.ori == 0 ? 1 : -1), S = {
			stroke: new Path2D(),
			fill: null,
			clip: null,
			band: null,
			gaps: null,
			flags: ri
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
		let [T, E] = oi(e, n);
		if (a.fill != null || T != 0) {
			let t = S.fill = new Path2D(C), s = v(a.fillTo(e, n, a.min, a.max, T)), c = _(o[r]), l = _(o[i]);
			x == -1 && ([l, c] = [c, l]), y(t, l, s), y(t, c, s);
		}
		if (!a.spanGaps) {
			let l = [];
			w && l.push(...di(o, s, r, i, x, _, t)), S.gaps = l = a.gaps(e, n, r, i, l), S.clip = li(l, c.ori, f, p, m, h);
		}
		return E != 0 && (S.band = E == 2 ? [ci(e, n, r, i, C, -1), ci(e, n, r, i, C, 1)] : ci(e, n, r, i, C, E)), S;
	});
}
function Ei(e) {
	let t = F(e.align, 1), n = F(e.ascDesc, !1), r = F(e.alignGaps, 0), i = F(e.extend, !1);
	return (e, a, o, s) => ai(e, a, (c, l, u, d, f, p, m, h, g, _, v) => {
		[o, s] = gt(u, o, s);
		let y = c.pxRound, { left: b, width: x } = e.bbox, S = (e) => y(p(e, d, _, h)), C = (e) => y(m(e, f, v, g)), w = d.ori == 0 ? gi : _i, T = {
			stroke: new Path2D(),
			fill: null,
			clip: null,
			band: null,
			gaps: null,
			flags: ri
		}, E = T.stroke, D = d.dir * (d.ori == 0 ? 1 : -1), O = C(u[D == 1 ? o : s]), k = S(l[D == 1 ? o : s]), ee = k, A = k;
		i && t == -1 && (A = b, w(E, A, O)), w(E, k, O);
		for (let e = D == 1 ? o : s; e >= o && e <= s; e += D) {
			let n = u[e];
			if (n == null) continue;
			let r = S(l[e]), i = C(n);
			t == 1 ? w(E, r, O) : w(E, ee, i), w(E, r, i), O = i, ee = r;
		}
		let te = ee;
		i && t == 1 && (te = b + x, w(E, te, O));
		let [ne, re] = oi(e, a);
		if (c.fill != null || ne != 0) {
			let t = T.fill = new Path2D(E), n = C(c.fillTo(e, a, c.min, c.max, ne));
			w(t, te, n), w(t, A, n);
		}
		if (!c.spanGaps) {
			let i = [];
			i.push(...di(l, u, o, s, D, S, r));
			let f = c.width * N / 2, p = n || t == 1 ? f : -f, m = n || t == -1 ? -f : f;
			i.forEach((e) => {
				e[0] += p, e[1] += m;
			}), T.gaps = i = c.gaps(e, a, o, s, i), T.clip = li(i, d.ori, h, g, _, v);
		}
		return re != 0 && (T.band = re == 2 ? [ci(e, a, o, s, E, -1), ci(e, a, o, s, E, 1)] : ci(e, a, o, s, E, re)), T;
	});
}
function X(e, t, n, r, i, a, o = B) {
	if (e.length > 1) {
		let s = null;
		for (let c = 0, l = Infinity; c < e.length; c++) if (t[c] !== void 0) {
			if (s != null) {
				let t = z(e[c] - e[s]);
				t < l && (l = t, o = z(n(e[c], r, i, a) - n(e[s], r, i, a)));
			}
			s = c;
		}
	}
	return o;
}
function Di(e) {
	e ||= rn;
	let t = F(e.size, [
		.6,
		B,
		1
	]), n = e.align || 0, r = e.gap || 0, i = e.radius;
	i = i == null ? [0, 0] : typeof i == "number" ? [i, 0] : i;
	let a = V(i), o = 1 - t[0], s = F(t[1], B), c = F(t[2], 1), l = F(e.disp, rn), u = F(e.each, (e) => {}), { fill: d, stroke: f } = l;
	return (e, t, i, p) => ai(e, t, (m, h, g, _, v, y, b, x, S, C, w) => {
		let T = m.pxRound, E = n, D = r * N, O = s * N, k = c * N, ee, A;
		_.ori == 0 ? [ee, A] = a(e, t) : [A, ee] = a(e, t);
		let te = _.dir * (_.ori == 0 ? 1 : -1), ne = _.ori == 0 ? vi : yi, re = _.ori == 0 ? u : (e, t, n, r, i, a, o) => {
			u(e, t, n, i, r, o, a);
		}, ie = F(e.bands, an).find((e) => e.series[0] == t), ae = ie == null ? 0 : ie.dir, oe = m.fillTo(e, t, m.min, m.max, ae), j = T(b(oe, v, w, S)), M, se, ce, le = C, ue = T(m.width * N), de = !1, fe = null, pe = null, me = null, he = null;
		d != null && (ue == 0 || f != null) && (de = !0, fe = d.values(e, t, i, p), pe = /* @__PURE__ */ new Map(), new Set(fe).forEach((e) => {
			e != null && pe.set(e, new Path2D());
		}), ue > 0 && (me = f.values(e, t, i, p), he = /* @__PURE__ */ new Map(), new Set(me).forEach((e) => {
			e != null && he.set(e, new Path2D());
		})));
		let { x0: ge, size: _e } = l;
		if (ge != null && _e != null) {
			E = 1, h = ge.values(e, t, i, p), ge.unit == 2 && (h = h.map((t) => e.posToVal(x + t * C, _.key, !0)));
			let n = _e.values(e, t, i, p);
			se = _e.unit == 2 ? n[0] * C : y(n[0], _, C, x) - y(0, _, C, x), le = X(h, g, y, _, C, x, le), ce = le - se + D;
		} else le = X(h, g, y, _, C, x, le), ce = le * o + D, se = le - ce;
		ce < 1 && (ce = 0), ue >= se / 2 && (ue = 0), ce < 5 && (T = Wt);
		let ve = ce > 0, ye = le - ce - (ve ? ue : 0);
		se = T(Vt(ye, k, O)), M = (E == 0 ? se / 2 : E == te ? 0 : se) - E * te * ((E == 0 ? D / 2 : 0) + (ve ? ue / 2 : 0));
		let be = {
			stroke: null,
			fill: null,
			clip: null,
			band: null,
			gaps: null,
			flags: 0
		}, xe = de ? null : new Path2D(), Se = null;
		if (ie != null) Se = e.data[ie.series[1]];
		else {
			let { y0: n, y1: r } = l;
			n != null && r != null && (g = r.values(e, t, i, p), Se = n.values(e, t, i, p));
		}
		let Ce = ee * se, we = A * se;
		for (let n = te == 1 ? i : p; n >= i && n <= p; n += te) {
			let r = g[n];
			if (r == null) continue;
			if (Se != null) {
				let e = Se[n] ?? 0;
				if (r - e == 0) continue;
				j = b(e, v, w, S);
			}
			let i = y(_.distr != 2 || l != null ? h[n] : n, _, C, x), a = b(F(r, oe), v, w, S), o = T(i - M), s = T(Nt(a, j)), c = T(Mt(a, j)), u = s - c;
			if (r != null) {
				let i = r < 0 ? we : Ce, a = r < 0 ? Ce : we;
				de ? (ue > 0 && me[n] != null && ne(he.get(me[n]), o, c + kt(ue / 2), se, Nt(0, u - ue), i, a), fe[n] != null && ne(pe.get(fe[n]), o, c + kt(ue / 2), se, Nt(0, u - ue), i, a)) : ne(xe, o, c + kt(ue / 2), se, Nt(0, u - ue), i, a), re(e, t, n, o - ue / 2, c, se + ue, u);
			}
		}
		return ue > 0 ? be.stroke = de ? he : xe : de || (be._fill = m.width == 0 ? m._fill : m._stroke ?? m._fill, be.width = 0), be.fill = de ? pe : xe, be;
	});
}
function Oi(e, t) {
	let n = F(t?.alignGaps, 0);
	return (t, r, i, a) => ai(t, r, (o, s, c, l, u, d, f, p, m, h, g) => {
		[i, a] = gt(c, i, a);
		let _ = o.pxRound, v = (e) => _(d(e, l, h, p)), y = (e) => _(f(e, u, g, m)), b, x, S;
		l.ori == 0 ? (b = mi, S = gi, x = Si) : (b = hi, S = _i, x = Ci);
		let C = l.dir * (l.ori == 0 ? 1 : -1), w = v(s[C == 1 ? i : a]), T = w, E = [], D = [];
		for (let e = C == 1 ? i : a; e >= i && e <= a; e += C) if (c[e] != null) {
			let t = s[e], n = v(t);
			E.push(T = n), D.push(y(c[e]));
		}
		let O = {
			stroke: e(E, D, b, S, x, _),
			fill: null,
			clip: null,
			band: null,
			gaps: null,
			flags: ri
		}, k = O.stroke, [ee, A] = oi(t, r);
		if (o.fill != null || ee != 0) {
			let e = O.fill = new Path2D(k), n = y(o.fillTo(t, r, o.min, o.max, ee));
			S(e, T, n), S(e, w, n);
		}
		if (!o.spanGaps) {
			let e = [];
			e.push(...di(s, c, i, a, C, v, n)), O.gaps = e = o.gaps(t, r, i, a, e), O.clip = li(e, l.ori, p, m, h, g);
		}
		return A != 0 && (O.band = A == 2 ? [ci(t, r, i, a, k, -1), ci(t, r, i, a, k, 1)] : ci(t, r, i, a, k, A)), O;
	});
}
function ki(e) {
	return Oi(Ai, e);
}
function Ai(e, t, n, r, i, a) {
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
var ji = /* @__PURE__ */ new Set();
function Mi() {
	for (let e of ji) e.syncRect(!0);
}
Ke && (ut(Ve, Je, Mi), ut(He, Je, Mi, !0), ut(We, Je, () => {
	Z.pxRatio = N;
}));
var Ni = Y(), Pi = q();
function Fi(e, t, n, r) {
	return (r ? [e[0], e[1]].concat(e.slice(2)) : [e[0]].concat(e.slice(1))).map((e, r) => Li(e, r, t, n));
}
function Ii(e, t) {
	return e.map((e, n) => n == 0 ? {} : U({}, t, e));
}
function Li(e, t, n, r) {
	return U({}, t == 0 ? n : r, e);
}
function Ri(e, t, n) {
	return t == null ? on : [t, n];
}
var zi = Ri;
function Bi(e, t, n) {
	return t == null ? on : Tt(t, n, xt, !0);
}
function Vi(e, t, n, r) {
	return t == null ? on : yt(t, n, e.scales[r].log, !1);
}
var Hi = Vi;
function Ui(e, t, n, r) {
	return t == null ? on : bt(t, n, e.scales[r].log, !1);
}
var Wi = Ui;
function Gi(e, t, n, r, i) {
	let a = Nt(Bt(e), Bt(t)), o = t - e, s = ft(i / r * o, n);
	do {
		let e = n[s], t = r * e / o;
		if (t >= i && a + (e < 5 ? en.get(e) : 0) <= 17) return [e, t];
	} while (++s < n.length);
	return [0, 0];
}
function Ki(e) {
	let t, n;
	return e = e.replace(/(\d+)px/, (e, r) => (t = At((n = +r) * N)) + "px"), [
		e,
		t,
		n
	];
}
function qi(e) {
	e.show && [e.font, e.labelFont].forEach((e) => {
		let t = H(e[2] * N, 1);
		e[0] = e[0].replace(/[0-9.]+px/, t + "px"), e[1] = t;
	});
}
function Z(e, t, n) {
	let r = { mode: F(e.mode, 1) }, i = r.mode;
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
	let l = r.root = tt(se);
	if (e.id != null && (l.id = e.id), Qe(l, e.class), e.title) {
		let t = tt(ue, l);
		t.textContent = e.title;
	}
	let u = et("canvas"), d = r.ctx = u.getContext("2d"), f = tt(de, l);
	ut("click", f, (e) => {
		e.target === m && (q != bi || J != xi) && Ti.click(r, e);
	}, !0);
	let p = r.under = tt(fe, f);
	f.appendChild(u);
	let m = r.over = tt(pe, f);
	e = hn(e);
	let h = +F(e.pxAlign, 1), g = fi(h);
	(e.plugins || []).forEach((t) => {
		t.opts && (e = t.opts(r, e) || e);
	});
	let _ = e.ms || .001, v = r.series = i == 1 ? Fi(e.series || [], Mr, Zr, !1) : Ii(e.series || [null], Xr), y = r.axes = Fi(e.axes || [], kr, Gr, !0), b = r.scales = {}, x = r.bands = e.bands || [];
	x.forEach((e) => {
		e.fill = V(e.fill || null), e.dir = F(e.dir, -1);
	});
	let S = i == 2 ? v[1].facets[0].scale : v[0].scale, C = {
		axes: Jr,
		series: wr
	}, w = (e.drawOrder || ["axes", "series"]).map((e) => C[e]);
	function T(e) {
		let t = e.distr == 3 ? (t) => It(t > 0 ? t : e.clamp(r, t, e.min, e.max, e.key)) : e.distr == 4 ? (t) => zt(t, e.asinh) : e.distr == 100 ? (t) => e.fwd(t) : (e) => e;
		return (n) => {
			let r = t(n), { _min: i, _max: a } = e, o = a - i;
			return (r - i) / o;
		};
	}
	function E(t) {
		let n = b[t];
		if (n == null) {
			let r = (e.scales || rn)[t] || rn;
			if (r.from != null) {
				E(r.from);
				let e = U({}, b[r.from], r, { key: t });
				e.valToPct = T(e), b[t] = e;
			} else {
				n = b[t] = U({}, t == S ? $r : ei, r), n.key = t;
				let e = n.time, a = n.range, o = sn(a);
				if ((t != S || i == 2 && !e) && (o && (a[0] == null || a[1] == null) && (a = {
					min: a[0] == null ? St : {
						mode: 1,
						hard: a[0],
						soft: a[0]
					},
					max: a[1] == null ? St : {
						mode: 1,
						hard: a[1],
						soft: a[1]
					}
				}, o = !1), !o && dn(a))) {
					let e = a;
					a = (t, n, r) => n == null ? on : Tt(n, r, e);
				}
				n.range = V(a || (e ? zi : t == S ? n.distr == 3 ? Hi : n.distr == 4 ? Wi : Ri : n.distr == 3 ? Vi : n.distr == 4 ? Ui : Bi)), n.auto = V(!o && n.auto), n.clamp = V(n.clamp || Qr), n._min = n._max = null, n.valToPct = T(n);
			}
		}
	}
	E("x"), E("y"), i == 1 && v.forEach((e) => {
		E(e.scale);
	}), y.forEach((e) => {
		E(e.scale);
	});
	for (let t in e.scales) E(t);
	let D = b[S], O = D.distr, k, ee;
	D.ori == 0 ? (Qe(l, ce), k = a, ee = o) : (Qe(l, le), k = o, ee = a);
	let A = {};
	for (let e in b) {
		let t = b[e];
		(t.min != null || t.max != null) && (A[e] = {
			min: t.min,
			max: t.max
		}, t.min = t.max = null);
	}
	let te = e.tzDate || ((e) => new Date(At(e / _))), ne = e.fmtDate || Nn, re = _ == 1 ? $n(te) : nr(te), ie = ir(te, rr(_ == 1 ? Qn : tr, ne)), ae = lr(te, sr(cr, ne)), oe = [], j = r.legend = U({}, fr, e.legend), M = r.cursor = U({}, xr, { drag: { y: i == 2 } }, e.cursor), Ne = j.show, Ve = M.show, He = j.markers;
	j.idxs = oe, He.width = V(He.width), He.dash = V(He.dash), He.stroke = V(He.stroke), He.fill = V(He.fill);
	let Ue, Ke, Ye, Xe = [], Ze = [], nt, it = !1, ot = {};
	if (j.live) {
		let e = v[1] ? v[1].values : null;
		it = e != null, nt = it ? e(r, 1, 0) : { _: 0 };
		for (let e in nt) ot[e] = Ge;
	}
	if (Ne) {
		if (Ue = et("table", be, l), Ye = et("tbody", null, Ue), j.mount(r, Ue), it) {
			Ke = et("thead", null, Ue, Ye);
			let e = et("tr", null, Ke);
			for (var ct in et("th", null, e), nt) et("th", Te, e).textContent = ct;
		} else Qe(Ue, Se), j.live && Qe(Ue, xe);
	}
	let lt = { show: !0 }, pt = { show: !1 };
	function mt(e, t) {
		if (t == 0 && (it || !j.live || i == 2)) return on;
		let n = [], a = et("tr", Ce, Ye, Ye.childNodes[t]);
		Qe(a, e.class), e.show || Qe(a, he);
		let o = et("th", null, a);
		if (He.show) {
			let e = tt(we, o);
			if (t > 0) {
				let n = He.width(r, t);
				n && (e.style.border = n + "px " + He.dash(r, t) + " " + He.stroke(r, t)), e.style.background = He.fill(r, t);
			}
		}
		let s = tt(Te, o);
		for (var c in e.label instanceof HTMLElement ? s.appendChild(e.label) : s.textContent = e.label, t > 0 && (He.show || (s.style.color = e.width > 0 ? He.stroke(r, t) : He.fill(r, t)), gt("click", o, (t) => {
			if (M._lock) return;
			Cn(t);
			let n = v.indexOf(e);
			if ((t.ctrlKey || t.metaKey) != j.isolate) {
				let e = v.some((e, t) => t > 0 && t != n && e.show);
				v.forEach((t, r) => {
					r > 0 && Mi(r, e ? r == n ? lt : pt : lt, !0, $.setSeries);
				});
			} else Mi(n, { show: !e.show }, !0, $.setSeries);
		}, !1), En && gt(Re, o, (t) => {
			M._lock || (Cn(t), Mi(v.indexOf(e), ea, !0, $.setSeries));
		}, !1)), nt) {
			let e = et("td", Ee, a);
			e.textContent = "--", n.push(e);
		}
		return [a, n];
	}
	let ht = /* @__PURE__ */ new Map();
	function gt(e, t, n, i = !0) {
		let a = ht.get(t) || {}, o = M.bind[e](r, t, n, i);
		o && (ut(e, t, a[e] = o), ht.set(t, a));
	}
	function _t(e, t, n) {
		let r = ht.get(t) || {};
		for (let n in r) (e == null || n == e) && (dt(n, t, r[n]), delete r[n]);
		e ?? ht.delete(t);
	}
	let Ct = 0, wt = 0, I = 0, L = 0, Dt = 0, R = 0, kt = Dt, Ft = R, Lt = I, Bt = L, Ut = 0, Wt = 0, Yt = 0, Xt = 0;
	r.bbox = {};
	let Qt = !1, $t = !1, nn = !1, cn = !1, pn = !1, mn = !1;
	function gn(e, t, n) {
		(n || e != r.width || t != r.height) && _n(e, t), Yr(!1), nn = !0, $t = !0, li();
	}
	function _n(e, t) {
		r.width = Ct = I = e, r.height = wt = L = t, Dt = R = 0, bn(), Sn();
		let n = r.bbox;
		Ut = n.left = Zt(Dt * N, .5), Wt = n.top = Zt(R * N, .5), Yt = n.width = Zt(I * N, .5), Xt = n.height = Zt(L * N, .5);
	}
	function vn() {
		let e = !1, t = 0;
		for (; !e;) {
			t++;
			let n = Vr(t), i = qr(t);
			e = t == 3 || n && i, e || (_n(r.width, r.height), $t = !0);
		}
	}
	function yn({ width: e, height: t }) {
		gn(e, t);
	}
	r.setSize = yn;
	function bn() {
		let e = !1, t = !1, n = !1, r = !1;
		y.forEach((i, a) => {
			if (i.show && i._show) {
				let { side: a, _size: o } = i, s = a % 2, c = o + (i.label == null ? 0 : i.labelSize);
				c > 0 && (s ? (I -= c, a == 3 ? (Dt += c, r = !0) : n = !0) : (L -= c, a == 0 ? (R += c, e = !0) : t = !0));
			}
		}), In[0] = e, In[1] = n, In[2] = t, In[3] = r, I -= Hn[1] + Hn[3], Dt += Hn[3], L -= Hn[2] + Hn[0], R += Hn[0];
	}
	function Sn() {
		let e = Dt + I, t = R + L, n = Dt, r = R;
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
		let r = e.prox = V(e.prox), i = e.bias ??= 0;
		M.dataIdx = (e, a, o, s) => {
			if (a == 0) return o;
			let c = o, l = r(e, a, o, s) ?? B, u = l >= 0 && l < B, d = D.ori == 0 ? I : L, f = M.left, p = t[0], m = t[a];
			if (n.has(m[o])) {
				c = null;
				let e = null, t = null, r;
				if (i == 0 || i == -1) for (r = o; e == null && r-- > 0;) n.has(m[r]) || (e = r);
				if (i == 0 || i == 1) for (r = o; t == null && r++ < m.length;) n.has(m[r]) || (t = r);
				if (e != null || t != null) {
					if (u) {
						let n = e == null ? -Infinity : k(p[e], D, d, 0), r = t == null ? Infinity : k(p[t], D, d, 0), i = f - n, a = r - f;
						i <= a ? i <= l && (c = e) : a <= l && (c = t);
					} else c = t == null ? e : e == null ? t : o - e <= t - o ? e : t;
				}
			} else u && z(f - k(p[o], D, d, 0)) > l && (c = null);
			return c;
		};
	}
	let Cn = (e) => {
		M.event = e;
	};
	M.idxs = oe, M._lock = !1;
	let wn = M.points;
	wn.show = V(wn.show), wn.size = V(wn.size), wn.stroke = V(wn.stroke), wn.width = V(wn.width), wn.fill = V(wn.fill);
	let Tn = r.focus = U({}, e.focus || { alpha: .3 }, M.focus), En = Tn.prox >= 0, Dn = En && wn.one, On = [], kn = [], An = [];
	function jn(e, t) {
		let n = wn.show(r, t);
		if (n instanceof HTMLElement) return Qe(n, ye), Qe(n, e.class), rt(n, -10, -10, I, L), m.insertBefore(n, On[t]), n;
	}
	function Mn(e, t) {
		if (i == 1 || t > 0) {
			let t = i == 1 && b[e.scale].time, n = e.value;
			e.value = t ? un(n) ? lr(te, sr(n, ne)) : n || ae : n || Wr, e.label = e.label || (t ? jr : Ar);
		}
		if (Dn || t > 0) {
			e.width = e.width == null ? 1 : e.width, e.paths = e.paths || Ni || Kt, e.fillTo = V(e.fillTo || si), e.pxAlign = +F(e.pxAlign, h), e.pxRound = fi(e.pxAlign), e.stroke = V(e.stroke || null), e.fill = V(e.fill || null), e._stroke = e._fill = e._paths = e._focus = null;
			let t = Kr(Nt(1, e.width), 1), n = e.points = U({}, {
				size: t,
				width: Nt(1, t * .2),
				stroke: e.stroke,
				space: t * 2,
				paths: Pi,
				_stroke: null,
				_fill: null
			}, e.points);
			n.show = V(n.show), n.filter = V(n.filter), n.fill = V(n.fill), n.stroke = V(n.stroke), n.paths = V(n.paths), n.pxAlign = e.pxAlign;
		}
		if (Ne) {
			let n = mt(e, t);
			Xe.splice(t, 0, n[0]), Ze.splice(t, 0, n[1]), j.values.push(null);
		}
		if (Ve) {
			oe.splice(t, 0, null);
			let n = null;
			Dn ? t == 0 && (n = jn(e, t)) : t > 0 && (n = jn(e, t)), On.splice(t, 0, n), kn.splice(t, 0, 0), An.splice(t, 0, 0);
		}
		Q("addSeries", t);
	}
	function Pn(e, t) {
		t ??= v.length, e = i == 1 ? Li(e, t, Mr, Zr) : Li(e, t, {}, Xr), v.splice(t, 0, e), Mn(v[t], t);
	}
	r.addSeries = Pn;
	function Fn(e) {
		if (v.splice(e, 1), Ne) {
			j.values.splice(e, 1), Ze.splice(e, 1);
			let t = Xe.splice(e, 1)[0];
			_t(null, t.firstChild), t.remove();
		}
		Ve && (oe.splice(e, 1), On.splice(e, 1)[0].remove(), kn.splice(e, 1), An.splice(e, 1)), Q("delSeries", e);
	}
	r.delSeries = Fn;
	let In = [
		!1,
		!1,
		!1,
		!1
	];
	function Ln(e, t) {
		if (e._show = e.show, e.show) {
			let n = e.side % 2, i = b[e.scale];
			i ??= (e.scale = n ? v[1].scale : S, b[e.scale]);
			let a = i.time;
			e.size = V(e.size), e.space = V(e.space), e.rotate = V(e.rotate), sn(e.incrs) && e.incrs.forEach((e) => {
				!en.has(e) && en.set(e, tn(e));
			}), e.incrs = V(e.incrs || (i.distr == 2 ? Bn : a ? _ == 1 ? Zn : er : Vn)), e.splits = V(e.splits || (a && i.distr == 1 ? re : i.distr == 3 ? Fr : i.distr == 4 ? Ir : Pr)), e.stroke = V(e.stroke), e.grid.stroke = V(e.grid.stroke), e.ticks.stroke = V(e.ticks.stroke), e.border.stroke = V(e.border.stroke);
			let o = e.values;
			e.values = sn(o) && !sn(o[0]) ? V(o) : a ? sn(o) ? ir(te, rr(o, ne)) : un(o) ? ar(te, o) : o || ie : o || Nr, e.filter = V(e.filter || (i.distr >= 3 && i.log == 10 ? Hr : i.distr == 3 && i.log == 2 ? Ur : Gt)), e.font = Ki(e.font), e.labelFont = Ki(e.labelFont), e._size = e.size(r, null, t, 0), e._space = e._rotate = e._incrs = e._found = e._splits = e._values = null, e._size > 0 && (In[t] = !0, e._el = tt(me, f));
		}
	}
	function Rn(e, t, n, r) {
		let [i, a, o, s] = n, c = t % 2, l = 0;
		return c == 0 && (s || a) && (l = t == 0 && !i || t == 2 && !o ? At(kr.size / 3) : 0), c == 1 && (i || o) && (l = t == 1 && !a || t == 3 && !s ? At(Gr.size / 2) : 0), l;
	}
	let zn = r.padding = (e.padding || [
		Rn,
		Rn,
		Rn,
		Rn
	]).map((e) => V(F(e, Rn))), Hn = r._padding = zn.map((e, t) => e(r, t, In, 0)), Un, W = null, G = null, Wn = i == 1 ? v[0].idxs : null, Gn = null, Kn = !1;
	function qn(e, n) {
		if (t = e ?? [], r.data = r._data = t, i == 2) {
			Un = 0;
			for (let e = 1; e < v.length; e++) Un += t[e][0].length;
		} else {
			t.length == 0 && (r.data = r._data = t = [[]]), Gn = t[0], Un = Gn.length;
			let e = t;
			if (O == 2) {
				e = t.slice();
				let n = e[0] = Array(Un);
				for (let e = 0; e < Un; e++) n[e] = e;
			}
			r._data = t = e;
		}
		if (Yr(!0), Q("setData"), O == 2 && (nn = !0), n !== !1) {
			let e = D;
			e.auto(r, Kn) ? Jn() : Ai(S, e.min, e.max), cn ||= M.left >= 0, mn = !0, li();
		}
	}
	r.setData = qn;
	function Jn() {
		Kn = !0;
		let e, n;
		i == 1 && (Un > 0 ? (W = Wn[0] = 0, G = Wn[1] = Un - 1, e = t[0][W], n = t[0][G], O == 2 ? (e = W, n = G) : e == n && (O == 3 ? [e, n] = yt(e, e, D.log, !1) : O == 4 ? [e, n] = bt(e, e, D.log, !1) : D.time ? n = e + At(86400 / _) : [e, n] = Tt(e, n, xt, !0))) : (W = Wn[0] = e = null, G = Wn[1] = n = null)), Ai(S, e, n);
	}
	let Yn, K, Xn, or, ur, dr, pr, mr, hr, gr;
	function _r(e, t, n, r, i, a) {
		e ??= Pe, n ??= an, r ??= "butt", i ??= Pe, a ??= "round", e != Yn && (d.strokeStyle = Yn = e), i != K && (d.fillStyle = K = i), t != Xn && (d.lineWidth = Xn = t), a != ur && (d.lineJoin = ur = a), r != dr && (d.lineCap = dr = r), n != or && d.setLineDash(or = n);
	}
	function vr(e, t, n, r) {
		t != K && (d.fillStyle = K = t), e != pr && (d.font = pr = e), n != mr && (d.textAlign = mr = n), r != hr && (d.textBaseline = hr = r);
	}
	function yr(e, t, n, i, a = 0) {
		if (i.length > 0 && e.auto(r, Kn) && (t == null || t.min == null)) {
			let t = F(W, 0), r = F(G, i.length - 1), o = n.min == null ? vt(i, t, r, a, e.distr == 3) : [n.min, n.max];
			e.min = Mt(e.min, n.min = o[0]), e.max = Nt(e.max, n.max = o[1]);
		}
	}
	let br = {
		min: null,
		max: null
	};
	function Sr() {
		for (let e in b) {
			let t = b[e];
			A[e] == null && (t.min == null || A[S] != null && t.auto(r, Kn)) && (A[e] = br);
		}
		for (let e in b) {
			let t = b[e];
			A[e] == null && t.from != null && A[t.from] != null && (A[e] = br);
		}
		A[S] != null && Yr(!0);
		let e = {};
		for (let t in A) {
			let n = A[t];
			if (n != null) {
				let a = e[t] = hn(b[t], fn);
				if (n.min != null) U(a, n);
				else if (t != S || i == 2) {
					if (Un == 0 && a.from == null) {
						let e = a.range(r, null, null, t);
						a.min = e[0], a.max = e[1];
					} else a.min = B, a.max = -Infinity;
				}
			}
		}
		if (Un > 0) {
			v.forEach((n, a) => {
				if (i == 1) {
					let i = n.scale, o = A[i];
					if (o == null) return;
					let s = e[i];
					if (a == 0) {
						let e = s.range(r, s.min, s.max, i);
						s.min = e[0], s.max = e[1], W = ft(s.min, t[0]), G = ft(s.max, t[0]), G - W > 1 && (t[0][W] < s.min && W++, t[0][G] > s.max && G--), n.min = Gn[W], n.max = Gn[G];
					} else n.show && n.auto && yr(s, o, n, t[a], n.sorted);
					n.idxs[0] = W, n.idxs[1] = G;
				} else if (a > 0 && n.show && n.auto) {
					let [r, i] = n.facets, o = r.scale, s = i.scale, [c, l] = t[a], u = e[o], d = e[s];
					u != null && yr(u, A[o], r, c, r.sorted), d != null && yr(d, A[s], i, l, i.sorted), n.min = i.min, n.max = i.max;
				}
			});
			for (let t in e) {
				let n = e[t], i = A[t];
				if (n.from == null && (i == null || i.min == null)) {
					let e = n.range(r, n.min == B ? null : n.min, n.max == -Infinity ? null : n.max, t);
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
				i._min = e == 3 ? It(i.min) : e == 4 ? zt(i.min, i.asinh) : e == 100 ? i.fwd(i.min) : i.min, i._max = e == 3 ? It(i.max) : e == 4 ? zt(i.max, i.asinh) : e == 100 ? i.fwd(i.max) : i.max, n[t] = a = !0;
			}
		}
		if (a) {
			v.forEach((e, t) => {
				i == 2 ? t > 0 && n.y && (e._paths = null) : n[e.scale] && (e._paths = null);
			});
			for (let e in n) nn = !0, Q("setScale", e);
			Ve && M.left >= 0 && (cn = mn = !0);
		}
		for (let e in A) A[e] = null;
	}
	function Cr(e) {
		let t = Vt(W - 1, 0, Un - 1), n = Vt(G + 1, 0, Un - 1);
		for (; e[t] == null && t > 0;) t--;
		for (; e[n] == null && n < Un - 1;) n++;
		return [t, n];
	}
	function wr() {
		if (Un > 0) {
			let e = v.some((e) => e._focus) && gr != Tn.alpha;
			e && (d.globalAlpha = gr = Tn.alpha), v.forEach((e, n) => {
				if (n > 0 && e.show && (Tr(n, !1), Tr(n, !0), e._paths == null)) {
					let a = gr;
					gr != e.alpha && (d.globalAlpha = gr = e.alpha);
					let o = i == 2 ? [0, t[n][0].length - 1] : Cr(t[n]);
					e._paths = e.paths(r, n, o[0], o[1]), gr != a && (d.globalAlpha = gr = a);
				}
			}), v.forEach((e, t) => {
				if (t > 0 && e.show) {
					let n = gr;
					gr != e.alpha && (d.globalAlpha = gr = e.alpha), e._paths != null && Er(t, !1);
					{
						let n = e._paths == null ? null : e._paths.gaps, i = e.points.show(r, t, W, G, n), a = e.points.filter(r, t, i, n);
						(i || a) && (e.points._paths = e.points.paths(r, t, W, G, a), Er(t, !0));
					}
					gr != n && (d.globalAlpha = gr = n), Q("drawSeries", t);
				}
			}), e && (d.globalAlpha = gr = 1);
		}
	}
	function Tr(e, t) {
		let n = t ? v[e].points : v[e];
		n._stroke = n.stroke(r, e), n._fill = n.fill(r, e);
	}
	function Er(e, t) {
		let n = t ? v[e].points : v[e], { stroke: r, fill: i, clip: a, flags: o, _stroke: s = n._stroke, _fill: c = n._fill, _width: l = n.width } = n._paths;
		l = H(l * N, 3);
		let u = null, f = l % 2 / 2;
		t && c == null && (c = l > 0 ? "#fff" : s);
		let p = n.pxAlign == 1 && f > 0;
		if (p && d.translate(f, f), !t) {
			let e = Ut - l / 2, t = Wt - l / 2, n = Yt + l, r = Xt + l;
			u = new Path2D(), u.rect(e, t, n, r);
		}
		t ? Or(s, l, n.dash, n.cap, c, r, i, o, a) : Dr(e, s, l, n.dash, n.cap, c, r, i, o, u, a), p && d.translate(-f, -f);
	}
	function Dr(e, n, i, a, o, s, c, l, u, d, f) {
		let p = !1;
		u != 0 && x.forEach((m, h) => {
			if (m.series[0] == e) {
				let e = v[m.series[1]], g = t[m.series[1]], _ = (e._paths || rn).band;
				sn(_) && (_ = m.dir == 1 ? _[0] : _[1]);
				let y, b = null;
				e.show && _ && Et(g, W, G) ? (b = m.fill(r, h) || s, y = e._paths.clip) : _ = null, Or(n, i, a, o, b, c, l, u, d, f, y, _), p = !0;
			}
		}), p || Or(n, i, a, o, s, c, l, u, d, f);
	}
	function Or(e, t, n, r, i, a, o, s, c, l, u, f) {
		_r(e, t, n, r, i), (c || l || f) && (d.save(), c && d.clip(c), l && d.clip(l)), f ? (s & 3) == 3 ? (d.clip(f), u && d.clip(u), Rr(i, o), Lr(e, a, t)) : s & ii ? (Rr(i, o), d.clip(f), Lr(e, a, t)) : s & ri && (d.save(), d.clip(f), u && d.clip(u), Rr(i, o), d.restore(), Lr(e, a, t)) : (Rr(i, o), Lr(e, a, t)), (c || l || f) && d.restore();
	}
	function Lr(e, t, n) {
		n > 0 && (t instanceof Map ? t.forEach((e, t) => {
			d.strokeStyle = Yn = t, d.stroke(e);
		}) : t != null && e && d.stroke(t));
	}
	function Rr(e, t) {
		t instanceof Map ? t.forEach((e, t) => {
			d.fillStyle = K = t, d.fill(e);
		}) : t != null && e && d.fill(t);
	}
	function zr(e, t, n, i) {
		let a = y[e], o;
		if (i <= 0) o = [0, 0];
		else {
			let s = a._space = a.space(r, e, t, n, i);
			o = Gi(t, n, a._incrs = a.incrs(r, e, t, n, i, s), i, s);
		}
		return a._found = o;
	}
	function Br(e, t, n, r, i, a, o, s, c, l) {
		let u = o % 2 / 2;
		h == 1 && d.translate(u, u), _r(s, o, c, l, s), d.beginPath();
		let f, p, m, g, _ = i + (r == 0 || r == 3 ? -a : a);
		n == 0 ? (p = i, g = _) : (f = i, m = _);
		for (let r = 0; r < e.length; r++) t[r] != null && (n == 0 ? f = m = e[r] : p = g = e[r], d.moveTo(f, p), d.lineTo(m, g));
		d.stroke(), h == 1 && d.translate(-u, -u);
	}
	function Vr(e) {
		let t = !0;
		return y.forEach((n, i) => {
			if (!n.show) return;
			let a = b[n.scale];
			if (a.min == null) {
				n._show && (t = !1, n._show = !1, Yr(!1));
				return;
			}
			n._show || (t = !1, n._show = !0, Yr(!1));
			let o = n.side, s = o % 2, { min: c, max: l } = a, [u, d] = zr(i, c, l, s == 0 ? I : L);
			if (d == 0) return;
			let f = a.distr == 2, p = n._splits = n.splits(r, i, c, l, u, d, f), m = a.distr == 2 ? p.map((e) => Gn[e]) : p, h = a.distr == 2 ? Gn[p[1]] - Gn[p[0]] : u, g = n._values = n.values(r, n.filter(r, m, i, d, h), i, d, h);
			n._rotate = o == 2 ? n.rotate(r, g, i, d) : 0;
			let _ = n._size;
			n._size = jt(n.size(r, g, i, e)), _ != null && n._size != _ && (t = !1);
		}), t;
	}
	function qr(e) {
		let t = !0;
		return zn.forEach((n, i) => {
			let a = n(r, i, In, e);
			a != Hn[i] && (t = !1), Hn[i] = a;
		}), t;
	}
	function Jr() {
		for (let e = 0; e < y.length; e++) {
			let t = y[e];
			if (!t.show || !t._show) continue;
			let n = t.side, i = n % 2, a, o, c = t.stroke(r, e), l = n == 0 || n == 3 ? -1 : 1, [u, f] = t._found;
			if (t.label != null) {
				let s = t.labelGap * l, p = At((t._lpos + s) * N);
				vr(t.labelFont[0], c, "center", n == 2 ? ke : Ae), d.save(), i == 1 ? (a = o = 0, d.translate(p, At(Wt + Xt / 2)), d.rotate((n == 3 ? -Ot : Ot) / 2)) : (a = At(Ut + Yt / 2), o = p);
				let m = Ht(t.label) ? t.label(r, e, u, f) : t.label;
				d.fillText(m, a, o), d.restore();
			}
			if (f == 0) continue;
			let p = b[t.scale], m = i == 0 ? Yt : Xt, h = i == 0 ? Ut : Wt, _ = t._splits, v = p.distr == 2 ? _.map((e) => Gn[e]) : _, x = p.distr == 2 ? Gn[_[1]] - Gn[_[0]] : u, S = t.ticks, C = t.border, w = S.show ? S.size : 0, T = At(w * N), E = At((t.alignTo == 2 ? t._size - w - t.gap : t.gap) * N), D = t._rotate * -Ot / 180, O = g(t._pos * N), k = O + (T + E) * l;
			o = i == 0 ? k : 0, a = i == 1 ? k : 0;
			let ee = t.font[0];
			vr(ee, c, t.align == 1 ? je : t.align == 2 ? Me : D > 0 ? je : D < 0 ? Me : i == 0 ? "center" : n == 3 ? Me : je, D || i == 1 ? "middle" : n == 2 ? ke : Ae);
			let A = t.font[1] * t.lineGap, te = _.map((e) => g(s(e, p, m, h))), ne = t._values;
			for (let e = 0; e < ne.length; e++) {
				let t = ne[e];
				if (t != null) {
					i == 0 ? a = te[e] : o = te[e], t = "" + t;
					let n = t.indexOf("\n") == -1 ? [t] : t.split(/\n/gm);
					for (let e = 0; e < n.length; e++) {
						let t = n[e];
						D ? (d.save(), d.translate(a, o + e * A), d.rotate(D), d.fillText(t, 0, 0), d.restore()) : d.fillText(t, a, o + e * A);
					}
				}
			}
			S.show && Br(te, S.filter(r, v, e, f, x), i, n, O, T, H(S.width * N, 3), S.stroke(r, e), S.dash, S.cap);
			let re = t.grid;
			re.show && Br(te, re.filter(r, v, e, f, x), i, i == 0 ? 2 : 1, i == 0 ? Wt : Ut, i == 0 ? Xt : Yt, H(re.width * N, 3), re.stroke(r, e), re.dash, re.cap), C.show && Br([O], [1], +(i == 0), i == 0 ? 1 : 2, i == 1 ? Wt : Ut, i == 1 ? Xt : Yt, H(C.width * N, 3), C.stroke(r, e), C.dash, C.cap);
		}
		Q("drawAxes");
	}
	function Yr(e) {
		v.forEach((t, n) => {
			n > 0 && (t._paths = null, e && (i == 1 ? (t.min = null, t.max = null) : t.facets.forEach((e) => {
				e.min = null, e.max = null;
			})));
		});
	}
	let ti = !1, ai = !1, oi = [];
	function ci() {
		ai = !1;
		for (let e = 0; e < oi.length; e++) Q(...oi[e]);
		oi.length = 0;
	}
	function li() {
		ti ||= (xn(di), !0);
	}
	function ui(e, t = !1) {
		ti = !0, ai = t, e(r), di(), t && oi.length > 0 && queueMicrotask(ci);
	}
	r.batch = ui;
	function di() {
		if (Qt &&= (Sr(), !1), nn &&= (vn(), !1), $t) {
			if (P(p, je, Dt), P(p, ke, R), P(p, De, I), P(p, Oe, L), P(m, je, Dt), P(m, ke, R), P(m, De, I), P(m, Oe, L), P(f, De, Ct), P(f, Oe, wt), u.width = At(Ct * N), u.height = At(wt * N), y.forEach(({ _el: e, _show: t, _size: n, _pos: r, side: i }) => {
				if (e != null) {
					if (t) {
						let t = i === 3 || i === 0 ? n : 0, a = i % 2 == 1;
						P(e, a ? "left" : "top", r - t), P(e, a ? "width" : "height", n), P(e, a ? "top" : "left", a ? R : Dt), P(e, a ? "height" : "width", a ? L : I), $e(e, he);
					} else Qe(e, he);
				}
			}), Yn = K = Xn = ur = dr = pr = mr = hr = or = null, gr = 1, pa(!0), Dt != kt || R != Ft || I != Lt || L != Bt) {
				Yr(!1);
				let e = I / Lt, t = L / Bt;
				if (Ve && !cn && M.left >= 0) {
					M.left *= e, M.top *= t, gi && rt(gi, At(M.left), 0, I, L), _i && rt(_i, 0, At(M.top), I, L);
					for (let n = 0; n < On.length; n++) {
						let r = On[n];
						r != null && (kn[n] *= e, An[n] *= t, rt(r, jt(kn[n]), jt(An[n]), I, L));
					}
				}
				if (X.show && !pn && X.left >= 0 && X.width > 0) {
					X.left *= e, X.width *= e, X.top *= t, X.height *= t;
					for (let e in ga) P(Di, e, X[e]);
				}
				kt = Dt, Ft = R, Lt = I, Bt = L;
			}
			Q("setSize"), $t = !1;
		}
		Ct > 0 && wt > 0 && (d.clearRect(0, 0, u.width, u.height), Q("drawClear"), w.forEach((e) => e()), Q("draw")), X.show && pn && (Oi(X), pn = !1), Ve && cn && (da(null, !0, !1), cn = !1), j.show && j.live && mn && (la(), mn = !1), c || (c = !0, r.status = 1, Q("ready")), Kn = !1, ti = !1;
	}
	r.redraw = (e, t) => {
		nn = t || !1, e === !1 ? li() : Ai(S, D.min, D.max);
	};
	function pi(e, n) {
		let i = b[e];
		if (i.from == null) {
			if (Un == 0) {
				let t = i.range(r, n.min, n.max, e);
				n.min = t[0], n.max = t[1];
			}
			if (n.min > n.max) {
				let e = n.min;
				n.min = n.max, n.max = e;
			}
			if (Un > 1 && n.min != null && n.max != null && n.max - n.min < 1e-16) return;
			e == S && i.distr == 2 && Un > 0 && (n.min = ft(n.min, t[0]), n.max = ft(n.max, t[0]), n.min == n.max && n.max++), A[e] = n, Qt = !0, li();
		}
	}
	r.setScale = pi;
	let mi, hi, gi, _i, vi, yi, bi, xi, Si, Ci, q, J, wi = !1, Ti = M.drag, Y = Ti.x, Ei = Ti.y;
	Ve && (M.x && (mi = tt(_e, m)), M.y && (hi = tt(ve, m)), D.ori == 0 ? (gi = mi, _i = hi) : (gi = hi, _i = mi), q = M.left, J = M.top);
	let X = r.select = U({
		show: !0,
		over: !0,
		left: 0,
		width: 0,
		top: 0,
		height: 0
	}, e.select), Di = X.show ? tt(ge, X.over ? m : p) : null;
	function Oi(e, t) {
		if (X.show) {
			for (let t in e) X[t] = e[t], t in ga && P(Di, t, e[t]);
			t !== !1 && Q("setSelect");
		}
	}
	r.setSelect = Oi;
	function ki(e) {
		if (v[e].show) Ne && $e(Xe[e], he);
		else if (Ne && Qe(Xe[e], he), Ve) {
			let t = Dn ? On[0] : On[e];
			t != null && rt(t, -10, -10, I, L);
		}
	}
	function Ai(e, t, n) {
		pi(e, {
			min: t,
			max: n
		});
	}
	function Mi(e, t, n, a) {
		t.focus != null && ta(e), t.show != null && v.forEach((n, r) => {
			r > 0 && (e == r || e == null) && (n.show = t.show, ki(r), i == 2 ? (Ai(n.facets[0].scale, null, null), Ai(n.facets[1].scale, null, null)) : Ai(n.scale, null, null), li());
		}), n !== !1 && Q("setSeries", e, t), a && Ma("setSeries", r, e, t);
	}
	r.setSeries = Mi;
	function Z(e, t) {
		U(x[e], t);
	}
	function Ji(e, t) {
		e.fill = V(e.fill || null), e.dir = F(e.dir, -1), t ??= x.length, x.splice(t, 0, e);
	}
	function Yi(e) {
		e == null ? x.length = 0 : x.splice(e, 1);
	}
	r.addBand = Ji, r.setBand = Z, r.delBand = Yi;
	function Xi(e, t) {
		v[e].alpha = t, Ve && On[e] != null && (On[e].style.opacity = t), Ne && Xe[e] && (Xe[e].style.opacity = t);
	}
	let Zi, Qi, $i, ea = { focus: !0 };
	function ta(e) {
		if (e != $i) {
			let t = e == null, n = Tn.alpha != 1;
			v.forEach((r, a) => {
				if (i == 1 || a > 0) {
					let i = t || a == 0 || a == e;
					r._focus = t ? null : i, n && Xi(a, i ? 1 : Tn.alpha);
				}
			}), $i = e, n && li();
		}
	}
	Ne && En && gt(ze, Ue, (e) => {
		M._lock || (Cn(e), $i != null && Mi(null, ea, !0, $.setSeries));
	});
	function na(e, t, n) {
		let r = b[t];
		n && (e = e / N - (r.ori == 1 ? R : Dt));
		let i = I;
		r.ori == 1 && (i = L, e = i - e), r.dir == -1 && (e = i - e);
		let a = r._min, o = r._max, s = e / i, c = a + (o - a) * s, l = r.distr;
		return l == 3 ? Pt(10, c) : l == 4 ? Rt(c, r.asinh) : l == 100 ? r.bwd(c) : c;
	}
	function ra(e, n) {
		return ft(na(e, S, n), t[0], W, G);
	}
	r.valToIdx = (e) => ft(e, t[0]), r.posToIdx = ra, r.posToVal = na, r.valToPos = (e, t, n) => b[t].ori == 0 ? a(e, b[t], n ? Yt : I, n ? Ut : 0) : o(e, b[t], n ? Xt : L, n ? Wt : 0), r.setCursor = (e, t, n) => {
		q = e.left, J = e.top, da(null, t, n);
	};
	function ia(e, t) {
		P(Di, je, X.left = e), P(Di, De, X.width = t);
	}
	function aa(e, t) {
		P(Di, ke, X.top = e), P(Di, Oe, X.height = t);
	}
	let oa = D.ori == 0 ? ia : aa, sa = D.ori == 1 ? ia : aa;
	function ca() {
		if (Ne && j.live) for (let e = +(i == 2); e < v.length; e++) {
			if (e == 0 && it) continue;
			let t = j.values[e], n = 0;
			for (let r in t) Ze[e][n++].firstChild.nodeValue = t[r];
		}
	}
	function la(e, t) {
		if (e != null && (e.idxs ? e.idxs.forEach((e, t) => {
			oe[t] = e;
		}) : ln(e.idx) || oe.fill(e.idx), j.idx = oe[0]), Ne && j.live) {
			for (let e = 0; e < v.length; e++) (e > 0 || i == 1 && !it) && ua(e, oe[e]);
			ca();
		}
		mn = !1, t !== !1 && Q("setLegend");
	}
	r.setLegend = la;
	function ua(e, n) {
		let i = v[e], a = e == 0 && O == 2 ? Gn : t[e], o;
		it ? o = i.values(r, e, n) ?? ot : (o = i.value(r, n == null ? null : a[n], e, n), o = o == null ? ot : { _: o }), j.values[e] = o;
	}
	function da(e, n, a) {
		Si = q, Ci = J, [q, J] = M.move(r, q, J), M.left = q, M.top = J, Ve && (gi && rt(gi, At(q), 0, I, L), _i && rt(_i, 0, At(J), I, L));
		let o, s = W > G;
		Zi = B, Qi = null;
		let c = D.ori == 0 ? I : L, l = D.ori == 1 ? I : L;
		if (q < 0 || Un == 0 || s) {
			o = M.idx = null;
			for (let e = 0; e < v.length; e++) {
				let t = On[e];
				t != null && rt(t, -10, -10, I, L);
			}
			En && Mi(null, ea, !0, e == null && $.setSeries), j.live && (oe.fill(o), mn = !0);
		} else {
			let e, n, a;
			i == 1 && (e = D.ori == 0 ? q : J, n = na(e, S), o = M.idx = ft(n, t[0], W, G), a = k(t[0][o], D, c, 0));
			let s = -10, u = -10, d = 0, f = 0, p = !0, m = "", h = "";
			for (let e = +(i == 2); e < v.length; e++) {
				let g = v[e], _ = oe[e], y = _ == null ? null : i == 1 ? t[e][_] : t[e][1][_], x = M.dataIdx(r, e, o, n), S = x == null ? null : i == 1 ? t[e][x] : t[e][1][x];
				if (mn = mn || S != y || x != _, oe[e] = x, e > 0 && g.show) {
					let n = x == null ? -10 : x == o ? a : k(i == 1 ? t[0][x] : t[e][0][x], D, c, 0), _ = S == null ? -10 : ee(S, i == 1 ? b[g.scale] : b[g.facets[1].scale], l, 0);
					if (En && S != null) {
						let t = D.ori == 1 ? q : J, n = z(Tn.dist(r, e, x, _, t));
						if (n < Zi) {
							let r = Tn.bias;
							if (r != 0) {
								let i = na(t, g.scale), a = S >= 0 ? 1 : -1, o = i >= 0 ? 1 : -1;
								o == a && (o == 1 ? r == 1 ? S >= i : S <= i : r == 1 ? S <= i : S >= i) && (Zi = n, Qi = e);
							} else Zi = n, Qi = e;
						}
					}
					if (mn || Dn) {
						let t, i;
						D.ori == 0 ? (t = n, i = _) : (t = _, i = n);
						let a, o, c, l, g, v, y = !0, b = wn.bbox;
						if (b != null) {
							y = !1;
							let t = b(r, e);
							c = t.left, l = t.top, a = t.width, o = t.height;
						} else c = t, l = i, a = o = wn.size(r, e);
						if (v = wn.fill(r, e), g = wn.stroke(r, e), Dn) e == Qi && Zi <= Tn.prox && (s = c, u = l, d = a, f = o, p = y, m = v, h = g);
						else {
							let t = On[e];
							t != null && (kn[e] = c, An[e] = l, st(t, a, o, y), at(t, v, g), rt(t, jt(c), jt(l), I, L));
						}
					}
				}
			}
			if (Dn) {
				let e = Tn.prox;
				if (mn || ($i == null ? Zi <= e : Zi > e || Qi != $i)) {
					let e = On[0];
					e != null && (kn[0] = s, An[0] = u, st(e, d, f, p), at(e, m, h), rt(e, jt(s), jt(u), I, L));
				}
			}
		}
		if (X.show && wi) {
			if (e != null) {
				let [t, n] = $.scales, [r, i] = $.match, [a, o] = e.cursor.sync.scales, s = e.cursor.drag;
				if (Y = s._x, Ei = s._y, Y || Ei) {
					let { left: s, top: u, width: d, height: f } = e.select, p = e.scales[a].ori, m = e.posToVal, h, g, _, v, y, x = t != null && r(t, a), S = n != null && i(n, o);
					x && Y ? (p == 0 ? (h = s, g = d) : (h = u, g = f), _ = b[t], v = k(m(h, a), _, c, 0), y = k(m(h + g, a), _, c, 0), oa(Mt(v, y), z(y - v))) : oa(0, c), S && Ei ? (p == 1 ? (h = s, g = d) : (h = u, g = f), _ = b[n], v = ee(m(h, o), _, l, 0), y = ee(m(h + g, o), _, l, 0), sa(Mt(v, y), z(y - v))) : sa(0, l);
				} else _a();
			} else {
				let e = z(Si - vi), t = z(Ci - yi);
				if (D.ori == 1) {
					let n = e;
					e = t, t = n;
				}
				Y = Ti.x && e >= Ti.dist, Ei = Ti.y && t >= Ti.dist;
				let n = Ti.uni;
				n == null ? Ti.x && Ti.y && (Y || Ei) && (Y = Ei = !0) : Y && Ei && (Y = e >= n, Ei = t >= n, !Y && !Ei && (t > e ? Ei = !0 : Y = !0));
				let r, i;
				Y && (D.ori == 0 ? (r = bi, i = q) : (r = xi, i = J), oa(Mt(r, i), z(i - r)), Ei || sa(0, l)), Ei && (D.ori == 1 ? (r = bi, i = q) : (r = xi, i = J), sa(Mt(r, i), z(i - r)), Y || oa(0, c)), !Y && !Ei && (oa(0, 0), sa(0, 0));
			}
		}
		if (Ti._x = Y, Ti._y = Ei, e == null) {
			if (a) {
				if (Aa != null) {
					let [e, t] = $.scales;
					$.values[0] = e == null ? null : na(D.ori == 0 ? q : J, e), $.values[1] = t == null ? null : na(D.ori == 1 ? q : J, t);
				}
				Ma(Fe, r, q, J, I, L, o);
			}
			if (En) {
				let e = a && $.setSeries, t = Tn.prox;
				$i == null ? Zi <= t && Mi(Qi, ea, !0, e) : Zi > t ? Mi(null, ea, !0, e) : Qi != $i && Mi(Qi, ea, !0, e);
			}
		}
		mn && (j.idx = o, la()), n !== !1 && Q("setCursor");
	}
	let fa = null;
	Object.defineProperty(r, "rect", { get() {
		return fa ?? pa(!1), fa;
	} });
	function pa(e = !1) {
		e ? fa = null : (fa = m.getBoundingClientRect(), Q("syncRect", fa));
	}
	function ma(e, t, n, r, i, a, o) {
		M._lock || wi && e != null && e.movementX == 0 && e.movementY == 0 || (ha(e, t, n, r, i, a, o, !1, e != null), e == null ? da(t, !0, !1) : da(null, !0, !0));
	}
	function ha(e, t, n, i, a, o, c, l, u) {
		if (fa ?? pa(!1), Cn(e), e != null) n = e.clientX - fa.left, i = e.clientY - fa.top;
		else {
			if (n < 0 || i < 0) {
				q = -10, J = -10;
				return;
			}
			let [e, r] = $.scales, c = t.cursor.sync, [l, u] = c.values, [d, f] = c.scales, [p, m] = $.match, h = t.axes[0].side % 2 == 1, g = D.ori == 0 ? I : L, _ = D.ori == 1 ? I : L, v = h ? o : a, y = h ? a : o, x = h ? i : n, S = h ? n : i;
			if (n = d == null ? x / v * g : p(e, d) ? s(l, b[e], g, 0) : -10, i = f == null ? S / y * _ : m(r, f) ? s(u, b[r], _, 0) : -10, D.ori == 1) {
				let e = n;
				n = i, i = e;
			}
		}
		u && (t == null || t.cursor.event.type == Fe) && ((n <= 1 || n >= I - 1) && (n = Zt(n, I)), (i <= 1 || i >= L - 1) && (i = Zt(i, L))), l ? (vi = n, yi = i, [bi, xi] = M.move(r, n, i)) : (q = n, J = i);
	}
	let ga = {
		width: 0,
		height: 0,
		left: 0,
		top: 0
	};
	function _a() {
		Oi(ga, !1);
	}
	let va, ya, ba, xa;
	function Sa(e, t, n, i, a, o, s) {
		wi = !0, Y = Ei = Ti._x = Ti._y = !1, ha(e, t, n, i, a, o, s, !0, !1), e != null && (gt(Le, qe, Ca, !1), Ma(Ie, r, bi, xi, I, L, null));
		let { left: c, top: l, width: u, height: d } = X;
		va = c, ya = l, ba = u, xa = d;
	}
	function Ca(e, t, n, i, a, o, s) {
		wi = Ti._x = Ti._y = !1, ha(e, t, n, i, a, o, s, !1, !0);
		let { left: c, top: l, width: u, height: d } = X, f = u > 0 || d > 0, p = va != c || ya != l || ba != u || xa != d;
		if (f && p && Oi(X), Ti.setScale && f && p) {
			let e = c, t = u, n = l, r = d;
			if (D.ori == 1 && (e = l, t = d, n = c, r = u), Y && Ai(S, na(e, S), na(e + t, S)), Ei) for (let e in b) {
				let t = b[e];
				e != S && t.from == null && t.min != B && Ai(e, na(n + r, e), na(n, e));
			}
			_a();
		} else M.lock && (M._lock = !M._lock, da(t, !0, e != null));
		e != null && (_t(Le, qe), Ma(Le, r, q, J, I, L, null));
	}
	function wa(e, t, n, r, i, a, o) {
		if (M._lock) return;
		Cn(e);
		let s = wi;
		if (wi) {
			let e = !0, t = !0, n, r;
			D.ori == 0 ? (n = Y, r = Ei) : (n = Ei, r = Y), n && r && (e = q <= 10 || q >= I - 10, t = J <= 10 || J >= L - 10), n && e && (q = q < bi ? 0 : I), r && t && (J = J < xi ? 0 : L), da(null, !0, !0), wi = !1;
		}
		q = -10, J = -10, oe.fill(null), da(null, !0, !0), s && (wi = s);
	}
	function Ta(e, t, n, i, a, o, s) {
		M._lock || (Cn(e), Jn(), _a(), e != null && Ma(Be, r, q, J, I, L, null));
	}
	function Ea() {
		y.forEach(qi), gn(r.width, r.height, !0);
	}
	ut(We, Je, Ea);
	let Da = {};
	Da.mousedown = Sa, Da.mousemove = ma, Da.mouseup = Ca, Da.dblclick = Ta, Da.setSeries = (e, t, n, i) => {
		let a = $.match[2];
		n = a(r, t, n), n != -1 && Mi(n, i, !0, !1);
	}, Ve && (gt(Ie, m, Sa), gt(Fe, m, ma), gt(Re, m, (e) => {
		Cn(e), pa(!1);
	}), gt(ze, m, wa), gt(Be, m, Ta), ji.add(r), r.syncRect = pa);
	let Oa = r.hooks = e.hooks || {};
	function Q(e, t, n) {
		ai ? oi.push([
			e,
			t,
			n
		]) : e in Oa && Oa[e].forEach((e) => {
			e.call(null, r, t, n);
		});
	}
	(e.plugins || []).forEach((e) => {
		for (let t in e.hooks) Oa[t] = (Oa[t] || []).concat(e.hooks[t]);
	});
	let ka = (e, t, n) => n, $ = U({
		key: null,
		setSeries: !1,
		filters: {
			pub: qt,
			sub: qt
		},
		scales: [S, v[1] ? v[1].scale : null],
		match: [
			Jt,
			Jt,
			ka
		],
		values: [null, null]
	}, M.sync);
	$.match.length == 2 && $.match.push(ka), M.sync = $;
	let Aa = $.key, ja = ni(Aa);
	function Ma(e, t, n, r, i, a, o) {
		$.filters.pub(e, t, n, r, i, a, o) && ja.pub(e, t, n, r, i, a, o);
	}
	ja.sub(r);
	function Na(e, t, n, r, i, a, o) {
		$.filters.sub(e, t, n, r, i, a, o) && Da[e](null, t, n, r, i, a, o);
	}
	r.pub = Na;
	function Pa() {
		ja.unsub(r), ji.delete(r), ht.clear(), dt(We, Je, Ea), l.remove(), Ue?.remove(), Q("destroy");
	}
	r.destroy = Pa;
	function Fa() {
		Q("init", e, t), qn(t || e.data, !1), A[S] ? pi(S, A[S]) : Jn(), pn = X.show && (X.width > 0 || X.height > 0), cn = mn = !0, gn(e.width, e.height);
	}
	return v.forEach(Mn), y.forEach(Ln), n ? n instanceof HTMLElement ? (n.appendChild(l), Fa()) : n(r, Fa) : Fa(), r;
}
Z.assign = U, Z.fmtNum = Dt, Z.rangeNum = Tt, Z.rangeLog = yt, Z.rangeAsinh = bt, Z.orient = ai, Z.pxRatio = N, Z.join = bn, Z.fmtDate = Nn, Z.tzDate = Fn, Z.sync = ni;
{
	Z.addGap = ui, Z.clipGaps = li;
	let e = Z.paths = { points: q };
	e.linear = Y, e.stepped = Ei, e.bars = Di, e.spline = ki;
}
// src/charts/marks.ts
function Ji(e, t, n) {
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
function Yi(e, t, n) {
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
function Xi(e, t, n) {
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
function Zi(e, t, n) {
	let { ctx: r, bbox: i, valToPos: a } = e, o = Math.max(a(t.begin, "x", !0), i.left), s = Math.min(a(t.end, "x", !0), i.left + i.width) - o;
	s <= 0 || s >= i.width || (r.save(), r.globalAlpha = .15, r.fillStyle = n("--muted"), r.fillRect(o, i.top, s, i.height), r.restore());
}
function Qi(e, t, n) {
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
var $i = /* @__PURE__ */ new Set([
	"dots",
	"discs",
	"circles",
	"squares",
	"crosses"
]), ea = 96 / 72, ta = (e) => ({
	x: (t) => e.valToPos(t, "x", !0),
	y: (t) => e.valToPos(t, "y", !0),
	min: e.scales.x.min,
	max: e.scales.x.max
});
function na({ x: e, y: t }, n) {
	let r = new Path2D(), i = !1;
	for (let [a, o] of n.x.entries()) {
		let s = n.y[a];
		Number.isNaN(s) || r[i ? "lineTo" : "moveTo"](e(o), t(s)), i = !Number.isNaN(s);
	}
	return {
		stroke: r,
		fill: null
	};
}
function ra({ x: e, y: t, min: r, max: i }, a) {
	let o = new Path2D(), s = Math.max(n(a.x, r) - 1, 0), c = Math.min(n(a.x, i) + 1, a.x.length), l = (e) => a.low?.[e] ?? 0;
	for (let n = s; n < c; n += 1) n > s ? o.lineTo(e(a.x[n]), t(a.y[n - 1])) : o.moveTo(e(a.x[n]), t(a.y[n])), o.lineTo(e(a.x[n]), t(a.y[n]));
	for (let n = c - 1; n >= s; --n) o.lineTo(e(a.x[n]), t(l(n))), n > s && o.lineTo(e(a.x[n]), t(l(n - 1)));
	return o.closePath(), {
		stroke: null,
		fill: o
	};
}
function ia({ x: e, y: t, min: n, max: r }, i) {
	let [a, o] = [new Path2D(), new Path2D()], s = i.size * ea * devicePixelRatio / 2;
	for (let [c, l] of i.x.entries()) {
		if (l < n || l > r || Number.isNaN(i.y[c])) continue;
		let [u, d] = [e(l), t(i.y[c])];
		i.begins && i.ends && (o.moveTo(e(i.begins[c]), d), o.lineTo(e(i.ends[c]), d)), i.least && i.most && (o.moveTo(u, t(i.least[c])), o.lineTo(u, t(i.most[c]))), i.kind === "crosses" ? (a.moveTo(u - s, d - s), a.lineTo(u + s, d + s), a.moveTo(u - s, d + s), a.lineTo(u + s, d - s)) : i.kind === "squares" ? a.rect(u - s, d - s, 2 * s, 2 * s) : (a.moveTo(u + s, d), a.arc(u, d, s, 0, 2 * Math.PI));
	}
	return aa(i) ? (a.addPath(o), {
		stroke: a,
		fill: null
	}) : {
		stroke: o,
		fill: a
	};
}
var aa = ({ kind: e }) => e === "crosses" || e === "circles";
function oa({ x: e, y: t, min: n, max: r }, i) {
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
function sa({ x: e, y: t }, n) {
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
var ca = {
	area: ra,
	curve: na,
	strokes: oa,
	bars: sa
}, la = (e) => e in ca, ua = (e, t) => ({
	width: 1.1,
	paths: (t) => na(ta(t), e),
	points: {
		show: !0,
		width: 1.3,
		stroke: () => t(e.colour),
		fill: () => t(aa(e) ? "--paper" : e.colour),
		paths: (t) => {
			let n = ia(ta(t), e);
			return {
				...n,
				fill: n.fill ?? n.stroke,
				clip: da(t)
			};
		}
	}
});
function da({ bbox: e }) {
	let t = new Path2D();
	return t.rect(e.left, e.top, e.width, e.height), t;
}
function fa(e, t, n, r) {
	let a = la(e.kind) ? ca[e.kind] : $i.has(e.kind) ? ia : null, s = a === null || a === na, c = e.listed === !1 && (s ? r : a !== ia || r || e.size > 4), l = e.kind === "strokes" && e.tipped === !0, d = !s && !e.joined ? void 0 : e.dashed ? i : e.dashes && o(e.dashes);
	return {
		label: e.name,
		...c ? { class: "unlisted" } : l ? { class: "silent" } : {},
		stroke: () => t(e.colour),
		fill: () => t(e.colour),
		width: a === ia ? 1.3 : Math.max(e.size * .9, .8),
		alpha: e.opacity ?? 1,
		cap: e.kind === "strokes" ? "round" : "butt",
		...d ? { dash: d } : {},
		spanGaps: e.kind !== "line",
		points: { show: !1 },
		paths: a ? (t) => a(ta(t), e) : pa(e.kind),
		...e.joined ? ua(e, t) : {},
		value: (e, t) => l ? "" : u(t, n)
	};
}
function pa(e) {
	let t = {
		"steps-before": -1,
		"steps-after": 1
	}[e], n = t ? Z.paths.stepped({ align: t }) : Z.paths.linear();
	return (...e) => {
		let t = n(...e);
		return t && {
			...t,
			fill: null
		};
	};
}
function ma(e) {
	if (e.kind === "bars") return [[], []];
	let t = /* @__PURE__ */ new Map();
	for (let [n, r] of e.x.entries()) t.set(r, Number.isNaN(e.y[n]) ? null : e.y[n]);
	let n = [...t.keys()].sort((e, t) => e - t);
	return [n, n.map((e) => t.get(e) ?? null)];
}
// src/charts/panel.ts
var ha = .06;
function ga(e, n, r) {
	let { chart: i, colour: a } = r, o = e.appendChild(ya("div", "head"));
	o.appendChild(ya("b")).textContent = n.title;
	let s = t(n, r.xs), f = i.axes[n.x], p = i.rows[r.row + 1]?.[r.column], m = p?.x !== n.x && f.label !== "", h = n.part, g = h && o.appendChild(ya("button")), _ = ({ min: e, max: t }) => e === f.reach[0] && t === f.reach[1], v = s.map(ma), y = s.some((e) => e.kind === "bars"), b = new Z({
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
				..._a(f)
			},
			y: {
				..._a(n.y),
				...n.y.names ? { dir: -1 } : {},
				range: (e, t, r) => Sa(e, n, s, t, r)
			}
		},
		series: [{
			label: f.label,
			value: (e, t) => u(t, h ? 9 : 6)
		}, ...s.map((e, t) => {
			let n = i.key.length > 0 || s.slice(0, t).some(({ name: t }) => t === e.name);
			return fa(e, a, h ? 8 : 4, n);
		})],
		axes: [{
			...d(a, 12),
			size: 26,
			label: m ? f.label : "",
			labelSize: m ? 18 : 0,
			...f.names ? ba(f.names) : { values: (e, t) => t.map(f.logarithmic ? l : c) }
		}, {
			...d(a, 12),
			label: n.y.label,
			labelSize: n.y.label ? 18 : 0,
			...xa(n.y)
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
			drawAxes: h ? [(e) => Zi(e, h, a)] : [],
			draw: [
				(e) => Yi(e, n.levels, a),
				(e) => Xi(e, n.feet, a),
				(e) => Ji(e, n.marks, a),
				...y ? [(e) => Qi(e, s, a)] : []
			],
			...y ? { setCursor: [Ta(o, n, s)] } : {}
		}
	}, v.some(([e]) => e.length) ? Z.join(v) : va(f.reach, s.length), e);
	return g?.addEventListener("click", () => {
		let [e, t] = _(b.scales.x) ? [h.begin, h.end] : f.reach;
		b.setScale("x", {
			min: e,
			max: t
		});
	}), wa(o, n), n.note && (e.appendChild(ya("p", "note")).textContent = n.note), b;
}
var _a = (e) => e.logarithmic ? { distr: 3 } : {}, va = (e, t) => [[...e], ...Array.from({ length: t }, () => [null, null])];
function ya(e, t = "") {
	let n = document.createElement(e);
	return t && (n.className = t), n;
}
var ba = (e) => ({
	splits: () => e.map((e, t) => t),
	values: () => e
});
function xa(e) {
	let t = (e) => Math.min(Math.max(52, 14 + 7 * Math.max(0, ...(e ?? []).map((e) => e.length))), 260);
	if (e.names) {
		let n = e.names.map((e) => e.length > 34 ? `${e.slice(0, 33)}…` : e);
		return {
			...ba(n),
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
function Sa(e, t, n, r, i) {
	let { names: a, low: o, high: s } = t.y;
	if (a) return [-.6, a.length - .4];
	if (t.part) return Ca(e, n);
	let c = t.levels.filter((e) => e.along === "y").map((e) => e.at), l = n.flatMap((e) => [...e.least ?? [], ...e.most ?? []]).filter(isFinite), u = [...c, ...l].filter((e) => !t.y.logarithmic || e > 0), [d, f] = [Math.min(r ?? Infinity, ...u), Math.max(i ?? -Infinity, ...u)];
	if (d > f) return [o ?? 0, s ?? 1];
	if (t.y.logarithmic && d > 0) {
		let e = ((s ?? f) / (o ?? d)) ** ha || 1;
		return [o ?? d / e, s ?? f * e];
	}
	let p = (f - (o ?? d) || Math.abs(f) || 1) * ha;
	return [o ?? d - p, s ?? f + p];
}
function Ca(e, t) {
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
function wa(e, t) {
	for (let n of t.levels.filter((e) => e.name)) {
		let t = e.appendChild(ya("span", `level ${n.look}`));
		t.textContent = n.name, t.style.setProperty("--of", `var(${n.colour})`);
	}
	for (let n of t.feet) {
		let t = e.appendChild(ya("span", "foot"));
		t.textContent = n.name, t.style.setProperty("--of", `var(${n.colour})`);
	}
}
function Ta(e, t, n) {
	let r = e.appendChild(ya("span", "values-at-cursor"));
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
var Ea = 0;
function Da(t, n, r) {
	let i = n.xs.map(e), a = `chart${Ea += 1}`, o = [], s = !1;
	t.classList.add("drawn"), t.dataset.name = n.name;
	let c = n.rows.flat(), l = c.some((e) => e.part || e.rows_of);
	if (t.setAttribute("role", l ? "group" : "img"), t.setAttribute("aria-label", n.title), n.note) {
		let e = t.appendChild(document.createElement("p"));
		e.className = "note", e.textContent = n.note;
	}
	n.key.length && C(t, n.key), c[0]?.rows_of && g(t, c[0].y);
	function u(e, t) {
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
		let c = t.appendChild(document.createElement("div"));
		c.className = "row", c.style.gridTemplateColumns = n.widths.map((e) => `minmax(0, ${e}fr)`).join(" ");
		for (let [t, l] of s.entries()) {
			let s = c.appendChild(document.createElement("div"));
			if (l.rows_of) {
				p(s, l, n.axes[l.x], i);
				continue;
			}
			let d = {
				chart: n,
				xs: i,
				row: e,
				column: t,
				group: `${a}-${l.x}`,
				colour: r,
				moved: u
			};
			o.push({
				plot: ga(s, l, d),
				box: s,
				panel: l,
				axis: l.x
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
		picture: () => D(t, n, o, r),
		csv: () => te(n, i),
		destroy: () => o.forEach(({ plot: e }) => e.destroy())
	};
}
// src/report/saving.ts
function Oa(e, t) {
	let n = document.createElement("span");
	n.className = "hint";
	let r = t.rows.flat().some((e) => !e.rows_of);
	return n.append(`${r ? " Drag to zoom, double-click to zoom out." : ""} Save as `, Q("PNG", t, () => e.picture().toBlob((e) => e && j(`${t.name}.png`, e))), " or ", Q("CSV", t, () => j(`${t.name}.csv`, new Blob([e.csv()], { type: "text/csv" }))), "."), n;
}
function Q(e, t, n) {
	let r = document.createElement("button");
	return r.type = "button", r.textContent = e, r.setAttribute("aria-label", `${e} of ${t.title}`), r.addEventListener("click", n), r;
}
// src/notebook/main.ts
function ka() {
	let { body: e, documentElement: t } = document, n = e.dataset.jpThemeLight;
	if (n !== void 0) return n === "false";
	if (/\bvscode-(dark|light)\b/.test(e.className)) return e.classList.contains("vscode-dark");
	let r = t.getAttribute("theme");
	return r ? r === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
function $({ model: e, el: t }) {
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
			let o = Da(a, t, r);
			e.appendChild(document.createElement("figcaption")).append(`${t.title}.`, Oa(o, t)), i.push(o);
		}
	}
	function s() {
		n.classList.toggle("dark", ka()), i.forEach((e) => e.repaint());
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
var Aa = { render: $ };
export { Aa as default };
