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
function l(e, t) {
	let n = [];
	for (let r = Math.floor(Math.log10(e)); 10 ** r <= t; r += 1) for (let e = 1; e < 10; e += 1) n.push(Number((e * 10 ** r).toPrecision(1)));
	let r = n.filter((n) => n >= e && n <= t);
	if (r.length > 1) return r;
	let i = 10 ** Math.floor(Math.log10(t - e)), a = Math.ceil(e / i);
	return Array.from({ length: Math.floor(t / i) - a + 1 }, (e, t) => Number(((a + t) * i).toPrecision(12)));
}
function u(e) {
	if (e.length <= 6) return [...e];
	let t = e.length <= 20 ? [
		1,
		2,
		5
	] : [1];
	return e.map((e) => t.includes(Number((e / 10 ** Math.floor(Math.log10(e) + 1e-9)).toPrecision(6))) ? e : null);
}
var d = (e, t) => e == null || Number.isNaN(e) ? "" : String(Number(e.toPrecision(t)));
function f(e, t) {
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
var p = 10;
function m(e, n, r, i) {
	let a = document.createElement("table");
	a.className = "heat-map", n.title && (a.createCaption().textContent = n.title);
	let o = a.createTHead().insertRow(), s = n.series.some((e) => e.name) ? `${n.rows_of} ↓ ${r.label} →` : `${r.label} →`;
	for (let e of [s, ...r.names ?? []]) {
		let t = o.appendChild(document.createElement("th"));
		t.scope = "col", t.textContent = e;
	}
	let c = a.createTBody();
	for (let e of t(n, i)) h(c.insertRow(), e, n.y, r.names?.length ?? 0);
	let l = e.appendChild(document.createElement("div"));
	l.className = "sideways", l.tabIndex = 0, l.append(a);
}
function h(e, t, n, r) {
	let i = e.appendChild(document.createElement("th"));
	i.scope = "row", i.textContent = t.name;
	for (let i = 0; i < r; i += 1) {
		let r = e.insertCell(), a = t.x.indexOf(i);
		if (a < 0 || Number.isNaN(t.y[a])) {
			r.className = "none", r.textContent = "–";
			continue;
		}
		r.className = `shade${g(t.y[a], n)}`;
		let [o, ...s] = (t.words?.[a] ?? c(t.y[a])).split("\n");
		r.append(o);
		for (let e of s) {
			let t = r.appendChild(document.createElement("small"));
			t.textContent = e;
		}
	}
}
function g(e, { low: t = 0, high: n = 1, logarithmic: r }) {
	let i = r ? Math.log : Number, a = (i(e) - i(t)) / (i(n) - i(t));
	return Math.min(Math.max(Math.round(a * 9), 0), 9);
}
function _(e, { label: t, low: n = 0, high: r = 1 }) {
	let i = e.appendChild(document.createElement("p"));
	i.className = "shades";
	let a = document.createElement("span");
	a.setAttribute("aria-hidden", "true");
	for (let e = 0; e < p; e += 1) a.appendChild(document.createElement("i")).className = `shade${e}`;
	i.append(`${t}: ${v(n)} `, a, ` ${v(r)}`);
}
var v = (e) => c(Number(e.toPrecision(3)));
function y(e, t, n) {
	let r = t.getBoundingClientRect();
	for (let i of t.querySelectorAll(".shades, .shades i, .heat-map caption, .heat-map th, .heat-map td")) {
		let { left: t, top: a, width: o, height: s } = i.getBoundingClientRect(), c = getComputedStyle(i);
		e.fillStyle = c.backgroundColor, e.fillRect(t - r.left, a - r.top, o, s), e.fillStyle = c.color || n("--ink"), e.font = `${c.fontWeight} ${c.fontSize} ${c.fontFamily}`;
		for (let t of b(i)) x(e, t, r);
	}
}
function b(e) {
	let t = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), n = [];
	for (; t.nextNode();) n.push(t.currentNode);
	return n;
}
function x(e, t, n) {
	let r = document.createRange();
	r.selectNodeContents(t);
	let { left: i, top: a, height: o } = r.getBoundingClientRect();
	e.fillText(t.data, i - n.left, a - n.top + o / 2);
}
// src/charts/key.ts
var S = {
	discs: "●",
	circles: "○",
	squares: "■",
	crosses: "×"
}, C = 18;
function w(e, t) {
	let n = e.appendChild(document.createElement("p"));
	n.className = "key";
	for (let { name: e, colour: r, kind: i, dashed: a } of t) {
		let t = n.appendChild(document.createElement("span"));
		t.textContent = e, t.dataset.sign = S[i] ?? "", t.className = S[i] ? "sign" : a ? "stroke dashed" : "stroke", t.style.setProperty("--of", `var(${r})`);
	}
}
function T(e, t, n, a) {
	let o = t.getBoundingClientRect();
	for (let [s, c] of [...t.querySelectorAll(".key span")].entries()) {
		let { left: t, top: l, height: u } = c.getBoundingClientRect(), { name: d, kind: f, dashed: p, colour: m } = n[s], [h, g] = [t - o.left, l - o.top + u / 2];
		e.font = r(12), e.fillStyle = e.strokeStyle = a(m);
		let _ = S[f];
		_ ? e.fillText(_, h, g) : (e.setLineDash(p ? i : []), e.lineWidth = 2, e.beginPath(), e.moveTo(h, g), e.lineTo(h + C - 4, g), e.stroke(), e.setLineDash([])), e.fillStyle = a("--muted"), e.fillText(d, h + C, g);
	}
}
// src/charts/export.ts
var E = 18, D = 10;
function O(e, t, n, i) {
	let a = devicePixelRatio, o = e.getBoundingClientRect(), s = document.createElement("canvas");
	s.width = (o.width + 20) * a, s.height = (o.height + E + 20) * a;
	let c = s.getContext("2d");
	c.scale(a, a), c.fillStyle = i("--paper"), c.fillRect(0, 0, s.width, s.height), c.translate(D, D), c.textBaseline = "middle", A(c, t.title, 0, E / 2, `600 ${r(13)}`, i("--ink")), c.translate(0, E), T(c, e, t.key, i), y(c, e, i);
	for (let { plot: e, box: t, panel: r } of n) {
		let n = e.root.getBoundingClientRect(), [s, l] = [n.left - o.left, n.top - o.top];
		c.drawImage(e.ctx.canvas, s, l, n.width, e.ctx.canvas.height / a), k(c, r, s, t.getBoundingClientRect().top - o.top, s + n.width, i);
	}
	return s;
}
function k(e, t, n, i, a, o) {
	let s = i + E / 2, c = n + A(e, t.title, n, s, r(12), o("--ink"));
	t.title && (c += 12);
	for (let n of t.series.filter((e) => e.listed !== !1)) {
		let t = ee(e, n.name, r(12)) + 26;
		if (c + t > a) break;
		e.strokeStyle = o(n.colour), e.lineWidth = 3, e.setLineDash((n.dashes ?? []).map((e) => e * 2 / 3)), e.beginPath(), e.moveTo(c, s), e.lineTo(c + 16, s), e.stroke(), A(e, n.name, c + 20, s, r(12), o("--muted")), c += t + 8;
	}
	e.setLineDash([]);
}
function ee(e, t, n) {
	return e.font = n, e.measureText(t).width;
}
function A(e, t, n, r, i, a) {
	return e.font = i, e.fillStyle = a, e.fillText(t, n, r), ee(e, t, i);
}
var te = [
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
function ne(e, t) {
	return [te, ...e.rows.flat().flatMap((n) => re(n, e, t))].map((e) => `${e.map(j).join(",")}\r\n`).join("");
}
function re(e, n, r) {
	let i = n.axes[e.x], [a, o] = [i, e.y].map((e) => ae(e.label || (e.names ? "name" : ""))), s = (t, n, r, ...i) => [
		e.title,
		t,
		n,
		...a,
		r,
		...o,
		...i.map(oe)
	], c = t(e, r).flatMap((t) => {
		let n = t.toX !== null && (t.kind !== "bars" || t.x.some((e) => e !== 0)), r = (e, t) => e?.[t];
		return [...t.x.entries()].filter(([e]) => !Number.isNaN(t.y[e])).map(([a, o]) => {
			let c = t.y[a], l = ie(i, n ? o : t.toX?.[a] ?? o), [u, ...d] = t.low ? [
				"",
				t.low[a],
				c
			] : [
				ie(e.y, c),
				r(t.least, a),
				r(t.most, a)
			], f = n ? [o, t.toX[a]] : [r(t.begins, a), t.begins ? r(t.ends, a) : void 0];
			return s(t.name, l, u, ...d, ...f);
		});
	}), l = e.feet.flatMap((e) => e.x.map((t) => s(e.name, oe(t), "", void 0, void 0, void 0, void 0)));
	return [...c, ...l];
}
var ie = ({ names: e }, t) => e?.[Math.round(t)] ?? oe(t);
function ae(e) {
	let t = /^(.*?)\s*\[([^\]]*)\]\s*$/.exec(e);
	return t ? [t[1], t[2]] : [e, ""];
}
var oe = (e) => e === void 0 || Number.isNaN(e) ? "" : String(e), j = (e) => /[",\r\n]/.test(e) ? `"${e.replaceAll("\"", "\"\"")}"` : e;
function M(e, t) {
	let n = URL.createObjectURL(t), r = document.createElement("a");
	r.href = n, r.download = e, r.click(), setTimeout(() => URL.revokeObjectURL(n), 6e4);
}
// node_modules/uplot/dist/uPlot.esm.js
var N = !0, se = "uplot", ce = "u-hz", le = "u-vt", ue = "u-title", de = "u-wrap", fe = "u-under", pe = "u-over", me = "u-axis", he = "u-off", ge = "u-select", _e = "u-cursor-x", ve = "u-cursor-y", ye = "u-cursor-pt", be = "u-legend", xe = "u-live", Se = "u-inline", Ce = "u-series", we = "u-marker", Te = "u-label", Ee = "u-value", De = "width", Oe = "height", ke = "top", Ae = "bottom", je = "left", Me = "right", Ne = "#000", Pe = "#0000", Fe = "mousemove", Ie = "mousedown", Le = "mouseup", Re = "mouseenter", ze = "mouseleave", Be = "dblclick", Ve = "resize", He = "scroll", Ue = "change", We = "dppxchange", Ge = "--", Ke = typeof window < "u", qe = Ke ? document : null, Je = Ke ? window : null, Ye = Ke ? navigator : null, P, Xe;
function Ze() {
	let e = devicePixelRatio;
	P != e && (P = e, Xe && dt(Ue, Xe, Ze), Xe = matchMedia(`(min-resolution: ${P - .001}dppx) and (max-resolution: ${P + .001}dppx)`), ut(Ue, Xe, Ze), Je.dispatchEvent(new CustomEvent(We)));
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
function F(e, t, n) {
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
	for (; r - n > 1;) i = a ? n + r >> 1 : jt((n + r) / 2), t[i] < e ? n = i : r = i;
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
	return [s ?? z, c ?? -z];
}
function yt(e, t, n, r) {
	let i = Lt(e), a = Lt(t);
	e == t && (i == -1 ? (e *= n, t /= n) : (e /= n, t *= n));
	let o = n == 10 ? Rt : zt, s = i == 1 ? jt : Nt, c = a == 1 ? Nt : jt, l = s(o(At(e))), u = c(o(At(t))), d = It(n, l), f = It(n, u);
	return n == 10 && (l < 0 && (d = V(d, -l)), u < 0 && (f = V(f, -u))), r || n == 2 ? (e = d * i, t = f * a) : (e = tn(e, d), t = en(t, f)), [e, t];
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
}, I = {
	min: Ct,
	max: Ct
};
function wt(e, t, n, r) {
	return pn(n) ? R(e, t, n) : (Ct.pad = n, Ct.soft = r ? 0 : null, Ct.mode = r ? 3 : 0, R(e, t, I));
}
function L(e, t) {
	return e ?? t;
}
function Tt(e, t, n) {
	for (t = L(t, 0), n = L(n, e.length - 1); t <= n;) {
		if (e[t] != null) return !0;
		t++;
	}
	return !1;
}
function R(e, t, n) {
	let r = n.min, i = n.max, a = L(r.pad, 0), o = L(i.pad, 0), s = L(r.hard, -z), c = L(i.hard, z), l = L(r.soft, z), u = L(i.soft, -z), d = L(r.mode, 0), f = L(i.mode, 0), p = t - e, m = Rt(p), h = Ft(At(e), At(t)), g = At(Rt(h) - m);
	(p < 1e-24 || g > 10) && (p = 0, (e == 0 || t == 0) && (p = 1e-24, d == 2 && l != z && (a = 0), f == 2 && u != -z && (o = 0)));
	let _ = p || h || 1e3, v = It(10, jt(Rt(_))), y = V(tn(e - _ * (p == 0 ? e == 0 ? .1 : 1 : a), v / 10), 24), b = e >= l && (d == 1 || d == 3 && y <= l || d == 2 && y >= l) ? l : z, x = Ft(s, y < b && e >= b ? b : Pt(b, y)), S = V(en(t + _ * (p == 0 ? t == 0 ? .1 : 1 : o), v / 10), 24), C = t <= u && (f == 1 || f == 3 && S >= u || f == 2 && S <= u) ? u : -z, w = Pt(c, S > C && t <= C ? C : Ft(C, S));
	return x == w && x == 0 && (w = 100), [x, w];
}
var Et = new Intl.NumberFormat(Ke ? Ye.language : "en-US"), Dt = (e) => Et.format(e), Ot = Math, kt = Ot.PI, At = Ot.abs, jt = Ot.floor, Mt = Ot.round, Nt = Ot.ceil, Pt = Ot.min, Ft = Ot.max, It = Ot.pow, Lt = Ot.sign, Rt = Ot.log10, zt = Ot.log2, Bt = (e, t = 1) => Ot.sinh(e) * t, Vt = (e, t = 1) => Ot.asinh(e / t), z = Infinity;
function Ht(e) {
	return (Rt((e ^ e >> 31) - (e >> 31)) | 0) + 1;
}
function Ut(e, t, n) {
	return Pt(Ft(e, t), n);
}
function Wt(e) {
	return typeof e == "function";
}
function B(e) {
	return Wt(e) ? e : () => e;
}
var Gt = () => {}, Kt = (e) => e, qt = (e, t) => t, Jt = (e) => null, Yt = (e) => !0, Xt = (e, t) => e == t, Zt = /\.\d*?(?=9{6,}|0{6,})/gm, Qt = (e) => {
	if (un(e) || nn.has(e)) return e;
	let t = `${e}`, n = t.match(Zt);
	if (n == null) return e;
	let r = n[0].length - 1;
	if (t.indexOf("e-") != -1) {
		let [e, n] = t.split("e");
		return +`${Qt(e)}e${n}`;
	}
	return V(e, r);
};
function $t(e, t) {
	return Qt(V(Qt(e / t)) * t);
}
function en(e, t) {
	return Qt(Nt(Qt(e / t)) * t);
}
function tn(e, t) {
	return Qt(jt(Qt(e / t)) * t);
}
function V(e, t = 0) {
	if (un(e)) return e;
	let n = 10 ** t;
	return Mt(e * n * (1 + 2 ** -52)) / n;
}
var nn = /* @__PURE__ */ new Map();
function rn(e) {
	return (("" + e).split(".")[1] || "").length;
}
function an(e, t, n, r) {
	let i = [], a = r.map(rn);
	for (let o = t; o < n; o++) {
		let t = At(o), n = V(It(e, o), t);
		for (let s = 0; s < r.length; s++) {
			let c = e == 10 ? +`${r[s]}e${o}` : r[s] * n, l = (o >= 0 ? 0 : t) + (o >= a[s] ? 0 : a[s]), u = e == 10 ? c : V(c, l);
			i.push(u), nn.set(u, l);
		}
	}
	return i;
}
var on = {}, sn = [], cn = [null, null], ln = Array.isArray, un = Number.isInteger, dn = (e) => e === void 0;
function fn(e) {
	return typeof e == "string";
}
function pn(e) {
	let t = !1;
	if (e != null) {
		let n = e.constructor;
		t = n == null || n == Object;
	}
	return t;
}
function mn(e) {
	return typeof e == "object" && !!e;
}
var hn = Object.getPrototypeOf(Uint8Array), gn = "__proto__";
function _n(e, t = pn) {
	let n;
	if (ln(e)) {
		let r = e.find((e) => e != null);
		if (ln(r) || t(r)) {
			n = Array(e.length);
			for (let r = 0; r < e.length; r++) n[r] = _n(e[r], t);
		} else n = e.slice();
	} else if (e instanceof hn) n = e.slice();
	else if (t(e)) {
		n = {};
		for (let r in e) r != gn && (n[r] = _n(e[r], t));
	} else n = e;
	return n;
}
function H(e) {
	let t = arguments;
	for (let n = 1; n < t.length; n++) {
		let r = t[n];
		for (let t in r) t != gn && (pn(e[t]) ? H(e[t], _n(r[t])) : e[t] = _n(r[t]));
	}
	return e;
}
var vn = 0, yn = 1, bn = 2;
function xn(e, t, n) {
	for (let r = 0, i, a = -1; r < t.length; r++) {
		let o = t[r];
		if (o > a) {
			for (i = o - 1; i >= 0 && e[i] == null;) e[i--] = null;
			for (i = o + 1; i < n && e[i] == null;) e[a = i++] = null;
		}
	}
}
function Sn(e, t) {
	if (Tn(e)) {
		let t = e[0].slice();
		for (let n = 1; n < e.length; n++) t.push(...e[n].slice(1));
		return En(t[0]) || (t = wn(t)), t;
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
			let c = o[e], l = Array(i).fill(void 0), u = t ? t[n][e] : yn, d = [];
			for (let e = 0; e < c.length; e++) {
				let t = c[e], n = a.get(s[e]);
				t === null ? u != vn && (l[n] = t, u == bn && d.push(n)) : l[n] = t;
			}
			xn(l, d, i), r.push(l);
		}
	}
	return r;
}
var Cn = typeof queueMicrotask > "u" ? (e) => Promise.resolve().then(e) : queueMicrotask;
function wn(e) {
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
function Tn(e) {
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
function En(e, t = 100) {
	let n = e.length;
	if (n <= 1) return !0;
	let r = 0, i = n - 1;
	for (; r <= i && e[r] == null;) r++;
	for (; i >= r && e[i] == null;) i--;
	if (i <= r) return !0;
	let a = Ft(1, jt((i - r + 1) / t));
	for (let t = e[r], n = r + a; n <= i; n += a) {
		let r = e[n];
		if (r != null) {
			if (r <= t) return !1;
			t = r;
		}
	}
	return !0;
}
var Dn = [
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
], On = [
	"Sunday",
	"Monday",
	"Tuesday",
	"Wednesday",
	"Thursday",
	"Friday",
	"Saturday"
];
function kn(e) {
	return e.slice(0, 3);
}
var An = On.map(kn), jn = {
	MMMM: Dn,
	MMM: Dn.map(kn),
	WWWW: On,
	WWW: An
};
function Mn(e) {
	return (e < 10 ? "0" : "") + e;
}
function Nn(e) {
	return (e < 10 ? "00" : e < 100 ? "0" : "") + e;
}
var Pn = {
	YYYY: (e) => e.getFullYear(),
	YY: (e) => (e.getFullYear() + "").slice(2),
	MMMM: (e, t) => t.MMMM[e.getMonth()],
	MMM: (e, t) => t.MMM[e.getMonth()],
	MM: (e) => Mn(e.getMonth() + 1),
	M: (e) => e.getMonth() + 1,
	DD: (e) => Mn(e.getDate()),
	D: (e) => e.getDate(),
	WWWW: (e, t) => t.WWWW[e.getDay()],
	WWW: (e, t) => t.WWW[e.getDay()],
	HH: (e) => Mn(e.getHours()),
	H: (e) => e.getHours(),
	h: (e) => {
		let t = e.getHours();
		return t == 0 ? 12 : t > 12 ? t - 12 : t;
	},
	AA: (e) => e.getHours() >= 12 ? "PM" : "AM",
	aa: (e) => e.getHours() >= 12 ? "pm" : "am",
	a: (e) => e.getHours() >= 12 ? "p" : "a",
	mm: (e) => Mn(e.getMinutes()),
	m: (e) => e.getMinutes(),
	ss: (e) => Mn(e.getSeconds()),
	s: (e) => e.getSeconds(),
	fff: (e) => Nn(e.getMilliseconds())
};
function Fn(e, t) {
	t ||= jn;
	let n = [], r = /\{([a-z]+)\}|[^{]+/gi, i;
	for (; i = r.exec(e);) n.push(i[0][0] == "{" ? Pn[i[1]] : i[0]);
	return (e) => {
		let r = "";
		for (let i = 0; i < n.length; i++) r += typeof n[i] == "string" ? n[i] : n[i](e, t);
		return r;
	};
}
var In = new Intl.DateTimeFormat().resolvedOptions().timeZone;
function Ln(e, t) {
	let n;
	return t == "UTC" || t == "Etc/UTC" ? n = /* @__PURE__ */ new Date(+e + e.getTimezoneOffset() * 6e4) : t == In ? n = e : (n = new Date(e.toLocaleString("en-US", { timeZone: t })), n.setMilliseconds(e.getMilliseconds())), n;
}
var Rn = (e) => e % 1 == 0, zn = [
	1,
	2,
	2.5,
	5
], Bn = an(10, -32, 0, zn), Vn = an(10, 0, 32, zn), Hn = Vn.filter(Rn), Un = Bn.concat(Vn), U = "\n", W = "{YYYY}", G = U + W, Wn = "{M}/{D}", Gn = U + Wn, Kn = Gn + "/{YY}", qn = "{aa}", Jn = "{h}:{mm}" + qn, Yn = U + Jn, Xn = ":{ss}", K = null;
function Zn(e) {
	let t = e * 1e3, n = t * 60, r = n * 60, i = r * 24, a = i * 30, o = i * 365, s = (e == 1 ? an(10, 0, 3, zn).filter(Rn) : an(10, -3, 0, zn)).concat([
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
			W,
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
			G,
			K,
			K,
			K,
			K,
			K,
			1
		],
		[
			i,
			Wn,
			G,
			K,
			K,
			K,
			K,
			K,
			1
		],
		[
			r,
			"{h}" + qn,
			Kn,
			K,
			Gn,
			K,
			K,
			K,
			1
		],
		[
			n,
			Jn,
			Kn,
			K,
			Gn,
			K,
			K,
			K,
			1
		],
		[
			t,
			Xn,
			Kn + " " + Jn,
			K,
			Gn + " " + Jn,
			K,
			Yn,
			K,
			1
		],
		[
			e,
			Xn + ".{fff}",
			Kn + " " + Jn,
			K,
			Gn + " " + Jn,
			K,
			Yn,
			K,
			1
		]
	];
	function l(t) {
		return (s, c, l, u, d, f) => {
			let p = [], m = d >= o, h = d >= a && d < o, g = t(l), _ = V(g * e, 3), v = sr(g.getFullYear(), m ? 0 : g.getMonth(), h || m ? 1 : g.getDate()), y = V(v * e, 3);
			if (h || m) {
				let n = h ? d / a : 0, r = m ? d / o : 0, i = _ == y ? _ : V(sr(v.getFullYear() + r, v.getMonth() + n, 1) * e, 3), s = new Date(Mt(i / e)), c = s.getFullYear(), l = s.getMonth();
				for (let a = 0; i <= u; a++) {
					let o = sr(c + r * a, l + n * a, 1), s = o - t(V(o * e, 3));
					i = V((+o + s) * e, 3), i <= u && p.push(i);
				}
			} else {
				let a = d >= i ? i : d, o = y + (jt(l) - jt(_)) + en(_ - y, a);
				p.push(o);
				let m = t(o), h = m.getHours() + m.getMinutes() / n + m.getSeconds() / r, g = d / r, v = f / s.axes[c]._space;
				for (; o = V(o + d, e == 1 ? 0 : 3), !(o > u);) if (g > 1) {
					let e = jt(V(h + g, 6)) % 24, n = t(o).getHours() - e;
					n > 1 && (n = -1), o -= n * r, h = (h + g) % 24;
					let i = p[p.length - 1];
					V((o - i) / d, 3) * v >= .7 && p.push(o);
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
var [Qn, $n, er] = Zn(1), [tr, nr, rr] = Zn(.001);
an(2, -53, 53, [1]);
function ir(e, t) {
	return e.map((e) => e.map((n, r) => r == 0 || r == 8 || n == null ? n : t(r == 1 || e[8] == 0 ? n : e[1] + n)));
}
function ar(e, t) {
	return (n, r, i, a, o) => {
		let s = t.find((e) => o >= e[0]) || t[t.length - 1], c, l, u, d, f, p;
		return r.map((t) => {
			let n = e(t), r = n.getFullYear(), i = n.getMonth(), a = n.getDate(), o = n.getHours(), m = n.getMinutes(), h = n.getSeconds(), g = r != c && s[2] || i != l && s[3] || a != u && s[4] || o != d && s[5] || m != f && s[6] || h != p && s[7] || s[1];
			return c = r, l = i, u = a, d = o, f = m, p = h, g(n);
		});
	};
}
function or(e, t) {
	let n = Fn(t);
	return (t, r, i, a, o) => r.map((t) => n(e(t)));
}
function sr(e, t, n) {
	return new Date(e, t, n);
}
function cr(e, t) {
	return t(e);
}
var lr = "{YYYY}-{MM}-{DD} {h}:{mm}{aa}";
function ur(e, t) {
	return (n, r, i, a) => a == null ? Ge : t(e(r));
}
function dr(e, t) {
	let n = e.series[t];
	return n.width ? n.stroke(e, t) : n.points.width ? n.points.stroke(e, t) : null;
}
function fr(e, t) {
	return e.series[t].fill(e, t);
}
var pr = {
	show: !0,
	live: !0,
	isolate: !1,
	mount: Gt,
	markers: {
		show: !0,
		width: 2,
		stroke: dr,
		fill: fr,
		dash: "solid"
	},
	idx: null,
	idxs: null,
	values: []
};
function mr(e, t) {
	let n = e.cursor.points, r = tt(), i = n.size(e, t);
	F(r, De, i), F(r, Oe, i);
	let a = i / -2;
	F(r, "marginLeft", a), F(r, "marginTop", a);
	let o = n.width(e, t, i);
	return o && F(r, "borderWidth", o), r;
}
function hr(e, t) {
	let n = e.series[t].points;
	return n._fill || n._stroke;
}
function gr(e, t) {
	let n = e.series[t].points;
	return n._stroke || n._fill;
}
function _r(e, t) {
	return e.series[t].points.size;
}
var vr = [0, 0];
function yr(e, t, n) {
	return vr[0] = t, vr[1] = n, vr;
}
function br(e, t, n, r = !0) {
	return (e) => {
		e.button != 0 || r && e.target != t || n(e);
	};
}
function xr(e, t, n, r = !0) {
	return (e) => {
		r && e.target != t || n(e);
	};
}
var Sr = {
	show: !0,
	x: !0,
	y: !0,
	lock: !1,
	move: yr,
	points: {
		one: !1,
		show: mr,
		size: _r,
		width: 0,
		stroke: gr,
		fill: hr
	},
	bind: {
		mousedown: br,
		mouseup: br,
		click: br,
		dblclick: br,
		mousemove: xr,
		mouseleave: xr,
		mouseenter: xr
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
}, Cr = {
	show: !0,
	stroke: "rgba(0,0,0,0.07)",
	width: 2
}, wr = H({}, Cr, { filter: qt }), Tr = H({}, wr, { size: 10 }), Er = H({}, Cr, { show: !1 }), Dr = "12px system-ui, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", Arial, \"Noto Sans\", sans-serif, \"Apple Color Emoji\", \"Segoe UI Emoji\", \"Segoe UI Symbol\", \"Noto Color Emoji\"", Or = "bold " + Dr, kr = 1.5, Ar = {
	show: !0,
	scale: "x",
	stroke: Ne,
	space: 50,
	gap: 5,
	alignTo: 1,
	size: 50,
	labelGap: 0,
	labelSize: 30,
	labelFont: Or,
	side: 2,
	grid: wr,
	ticks: Tr,
	border: Er,
	font: Dr,
	lineGap: kr,
	rotate: 0
}, jr = "Value", Mr = "Time", Nr = {
	show: !0,
	scale: "x",
	auto: !1,
	sorted: 1,
	min: z,
	max: -Infinity,
	idxs: []
};
function Pr(e, t, n, r, i) {
	return t.map((e) => e == null ? "" : Dt(e));
}
function Fr(e, t, n, r, i, a, o) {
	let s = [], c = nn.get(i) || 0;
	n = o ? n : V(en(n, i), c);
	for (let e = n; e <= r; e = V(e + i, c)) s.push(Object.is(e, -0) ? 0 : e);
	return s;
}
function Ir(e, t, n, r, i, a, o) {
	let s = [], c = e.scales[e.axes[t].scale].log;
	i = It(c, jt((c == 10 ? Rt : zt)(n))), c == 10 && (i = Un[ft(i, Un)]);
	let l = n, u = i * c;
	c == 10 && (u = Un[ft(u, Un)]);
	do
		s.push(l), l += i, c == 10 && !nn.has(l) && (l = V(l, nn.get(i))), l >= u && (i = l, u = i * c, c == 10 && (u = Un[ft(u, Un)]));
	while (l <= r);
	return s;
}
function Lr(e, t, n, r, i, a, o) {
	let s = e.scales[e.axes[t].scale].asinh, c = r > s ? Ir(e, t, Ft(s, n), r, i) : [s], l = r >= 0 && n <= 0 ? [0] : [];
	return (n < -s ? Ir(e, t, Ft(s, -r), -n, i) : [s]).reverse().map((e) => -e).concat(l, c);
}
var Rr = /./, zr = /[12357]/, Br = /[125]/, Vr = /1/, Hr = (e, t, n, r) => e.map((e, i) => t == 4 && e == 0 || i % r == 0 && n.test(e.toExponential()[+(e < 0)]) ? e : null);
function Ur(e, t, n, r, i) {
	let a = e.axes[n], o = a.scale, s = e.scales[o], c = e.valToPos, l = a._space, u = c(10, o), d = c(9, o) - u >= l ? Rr : c(7, o) - u >= l ? zr : c(5, o) - u >= l ? Br : Vr;
	if (d == Vr) {
		let e = At(c(1, o) - u);
		if (e < l) return Hr(t.slice().reverse(), s.distr, d, Nt(l / e)).reverse();
	}
	return Hr(t, s.distr, d, 1);
}
function Wr(e, t, n, r, i) {
	let a = e.axes[n], o = a.scale, s = a._space, c = e.valToPos, l = At(c(1, o) - c(2, o));
	return l < s ? Hr(t.slice().reverse(), 3, Rr, Nt(s / l)).reverse() : t;
}
function Gr(e, t, n, r) {
	return r == null ? Ge : t == null ? "" : Dt(t);
}
var Kr = {
	show: !0,
	scale: "y",
	stroke: Ne,
	space: 30,
	gap: 5,
	alignTo: 1,
	size: 50,
	labelGap: 0,
	labelSize: 30,
	labelFont: Or,
	side: 3,
	grid: wr,
	ticks: Tr,
	border: Er,
	font: Dr,
	lineGap: kr,
	rotate: 0
};
function qr(e, t) {
	return V((3 + (e || 1) * 2) * t, 3);
}
function Jr(e, t) {
	let { scale: n, idxs: r } = e.series[0], i = e._data[0], a = e.valToPos(i[r[0]], n, !0), o = At(e.valToPos(i[r[1]], n, !0) - a) / (e.series[t].points.space * P);
	return r[1] - r[0] <= o;
}
var Yr = {
	scale: null,
	auto: !0,
	sorted: 0,
	min: z,
	max: -Infinity
}, Xr = (e, t, n, r, i) => i, Zr = {
	show: !0,
	auto: !0,
	sorted: 0,
	gaps: Xr,
	alpha: 1,
	facets: [H({}, Yr, { scale: "x" }), H({}, Yr, { scale: "y" })]
}, Qr = {
	scale: "y",
	auto: !0,
	sorted: 0,
	show: !0,
	spanGaps: !1,
	gaps: Xr,
	alpha: 1,
	points: {
		show: Jr,
		filter: null
	},
	values: null,
	min: z,
	max: -Infinity,
	idxs: [],
	path: null,
	clip: null
};
function $r(e, t, n, r, i) {
	return n / 10;
}
var ei = {
	time: N,
	auto: !0,
	distr: 1,
	log: 10,
	asinh: 1,
	min: null,
	max: null,
	dir: 1,
	ori: 0
}, ti = H({}, ei, {
	time: !1,
	ori: 1
}), ni = {};
function ri(e, t) {
	let n = ni[e];
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
	}, e != null && (ni[e] = n)), n;
}
var ii = 1, ai = 2;
function oi(e, t, n) {
	let r = e.mode, i = e.series[t], a = r == 2 ? e._data[t] : e._data, o = e.scales, s = e.bbox, c = a[0], l = r == 2 ? a[1] : a[t], u = r == 2 ? o[i.facets[0].scale] : o[e.series[0].scale], d = r == 2 ? o[i.facets[1].scale] : o[i.scale], f = s.left, p = s.top, m = s.width, h = s.height, g = e.valToPosH, _ = e.valToPosV;
	return u.ori == 0 ? n(i, c, l, u, d, g, _, f, p, m, h, hi, _i, yi, xi, Ci) : n(i, c, l, u, d, _, g, p, f, h, m, gi, vi, bi, Si, q);
}
function si(e, t) {
	let n = 0, r = 0, i = L(e.bands, sn);
	for (let e = 0; e < i.length; e++) {
		let a = i[e];
		a.series[0] == t ? n = a.dir : a.series[1] == t && (a.dir == 1 ? r |= 1 : r |= 2);
	}
	return [n, r == 1 ? -1 : r == 2 ? 1 : r == 3 ? 2 : 0];
}
function ci(e, t, n, r, i) {
	let a = e.mode, o = e.series[t], s = a == 2 ? o.facets[1].scale : o.scale, c = e.scales[s];
	return i == -1 ? c.min : i == 1 ? c.max : c.distr == 3 ? c.dir == 1 ? c.min : c.max : 0;
}
function li(e, t, n, r, i, a) {
	return oi(e, t, (e, t, o, s, c, l, u, d, f, p, m) => {
		let h = e.pxRound, g = s.dir * (s.ori == 0 ? 1 : -1), _ = s.ori == 0 ? _i : vi, v, y;
		g == 1 ? (v = n, y = r) : (v = r, y = n);
		let b = h(l(t[v], s, p, d)), x = h(u(o[v], c, m, f)), S = h(l(t[y], s, p, d)), C = h(u(a == 1 ? c.max : c.min, c, m, f)), w = new Path2D(i);
		return _(w, S, C), _(w, b, C), _(w, b, x), w;
	});
}
function ui(e, t, n, r, i, a) {
	let o = null;
	if (e.length > 0) {
		o = new Path2D();
		let s = t == 0 ? yi : bi, c = n;
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
function di(e, t, n) {
	let r = e[e.length - 1];
	r && r[0] == t ? r[1] = n : e.push([t, n]);
}
function fi(e, t, n, r, i, a, o) {
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
function pi(e) {
	return e == 0 ? Kt : e == 1 ? Mt : (t) => $t(t, e);
}
function mi(e) {
	let t = e == 0 ? hi : gi, n = e == 0 ? (e, t, n, r, i, a) => {
		e.arcTo(t, n, r, i, a);
	} : (e, t, n, r, i, a) => {
		e.arcTo(n, t, i, r, a);
	}, r = e == 0 ? (e, t, n, r, i) => {
		e.rect(t, n, r, i);
	} : (e, t, n, r, i) => {
		e.rect(n, t, i, r);
	};
	return (e, i, a, o, s, c = 0, l = 0) => {
		c == 0 && l == 0 ? r(e, i, a, o, s) : (c = Pt(c, o / 2, s / 2), l = Pt(l, o / 2, s / 2), t(e, i + c, a), n(e, i + o, a, i + o, a + s, c), n(e, i + o, a + s, i, a + s, l), n(e, i, a + s, i, a, l), n(e, i, a, i + o, a, c), e.closePath());
	};
}
var hi = (e, t, n) => {
	e.moveTo(t, n);
}, gi = (e, t, n) => {
	e.moveTo(n, t);
}, _i = (e, t, n) => {
	e.lineTo(t, n);
}, vi = (e, t, n) => {
	e.lineTo(n, t);
}, yi = mi(0), bi = mi(1), xi = (e, t, n, r, i, a) => {
	e.arc(t, n, r, i, a);
}, Si = (e, t, n, r, i, a) => {
	e.arc(n, t, r, i, a);
}, Ci = (e, t, n, r, i, a, o) => {
	e.bezierCurveTo(t, n, r, i, a, o);
}, q = (e, t, n, r, i, a, o) => {
	e.bezierCurveTo(n, t, i, r, o, a);
};
function J(e) {
	return (e, t, n, r, i) => oi(e, t, (t, a, o, s, c, l, u, d, f, p, m) => {
		let { pxRound: h, points: g } = t, _, v;
		s.ori == 0 ? (_ = hi, v = xi) : (_ = gi, v = Si);
		let y = V(g.width * P, 3), b = (g.size - g.width) / 2 * P, x = V(b * 2, 3), S = new Path2D(), C = new Path2D(), { left: w, top: T, width: E, height: D } = e.bbox;
		yi(C, w - x, T - x, E + x * 2, D + x * 2);
		let O = (e) => {
			if (o[e] != null) {
				let t = h(l(a[e], s, p, d)), n = h(u(o[e], c, m, f));
				_(S, t + b, n), v(S, t, n, b, 0, kt * 2);
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
function wi(e) {
	return (t, n, r, i, a, o) => {
		r != i && (a != r && o != r && e(t, n, r), a != i && o != i && e(t, n, i), e(t, n, o));
	};
}
var Ti = wi(_i), Ei = wi(vi);
function Y(e) {
	let t = L(e?.alignGaps, 0);
	return (e, n, r, i) => oi(e, n, (a, o, s, c, l, u, d, f, p, m, h) => {
		[r, i] = gt(s, r, i);
		let g = a.pxRound, _ = (e) => g(u(e, c, m, f)), v = (e) => g(d(e, l, h, p)), y, b;
		c.ori == 0 ? (y = _i, b = Ti) : (y = vi, b = Ei);
		let x = c.dir * (c.ori == 0 ? 1 : -1), S = {
			stroke: new Path2D(),
			fill: null,
			clip: null,
			band: null,
			gaps: null,
			flags: ii
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
		let [T, E] = si(e, n);
		if (a.fill != null || T != 0) {
			let t = S.fill = new Path2D(C), s = v(a.fillTo(e, n, a.min, a.max, T)), c = _(o[r]), l = _(o[i]);
			x == -1 && ([l, c] = [c, l]), y(t, l, s), y(t, c, s);
		}
		if (!a.spanGaps) {
			let l = [];
			w && l.push(...fi(o, s, r, i, x, _, t)), S.gaps = l = a.gaps(e, n, r, i, l), S.clip = ui(l, c.ori, f, p, m, h);
		}
		return E != 0 && (S.band = E == 2 ? [li(e, n, r, i, C, -1), li(e, n, r, i, C, 1)] : li(e, n, r, i, C, E)), S;
	});
}
function X(e) {
	let t = L(e.align, 1), n = L(e.ascDesc, !1), r = L(e.alignGaps, 0), i = L(e.extend, !1);
	return (e, a, o, s) => oi(e, a, (c, l, u, d, f, p, m, h, g, _, v) => {
		[o, s] = gt(u, o, s);
		let y = c.pxRound, { left: b, width: x } = e.bbox, S = (e) => y(p(e, d, _, h)), C = (e) => y(m(e, f, v, g)), w = d.ori == 0 ? _i : vi, T = {
			stroke: new Path2D(),
			fill: null,
			clip: null,
			band: null,
			gaps: null,
			flags: ii
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
		let [ne, re] = si(e, a);
		if (c.fill != null || ne != 0) {
			let t = T.fill = new Path2D(E), n = C(c.fillTo(e, a, c.min, c.max, ne));
			w(t, te, n), w(t, A, n);
		}
		if (!c.spanGaps) {
			let i = [];
			i.push(...fi(l, u, o, s, D, S, r));
			let f = c.width * P / 2, p = n || t == 1 ? f : -f, m = n || t == -1 ? -f : f;
			i.forEach((e) => {
				e[0] += p, e[1] += m;
			}), T.gaps = i = c.gaps(e, a, o, s, i), T.clip = ui(i, d.ori, h, g, _, v);
		}
		return re != 0 && (T.band = re == 2 ? [li(e, a, o, s, E, -1), li(e, a, o, s, E, 1)] : li(e, a, o, s, E, re)), T;
	});
}
function Di(e, t, n, r, i, a, o = z) {
	if (e.length > 1) {
		let s = null;
		for (let c = 0, l = Infinity; c < e.length; c++) if (t[c] !== void 0) {
			if (s != null) {
				let t = At(e[c] - e[s]);
				t < l && (l = t, o = At(n(e[c], r, i, a) - n(e[s], r, i, a)));
			}
			s = c;
		}
	}
	return o;
}
function Oi(e) {
	e ||= on;
	let t = L(e.size, [
		.6,
		z,
		1
	]), n = e.align || 0, r = e.gap || 0, i = e.radius;
	i = i == null ? [0, 0] : typeof i == "number" ? [i, 0] : i;
	let a = B(i), o = 1 - t[0], s = L(t[1], z), c = L(t[2], 1), l = L(e.disp, on), u = L(e.each, (e) => {}), { fill: d, stroke: f } = l;
	return (e, t, i, p) => oi(e, t, (m, h, g, _, v, y, b, x, S, C, w) => {
		let T = m.pxRound, E = n, D = r * P, O = s * P, k = c * P, ee, A;
		_.ori == 0 ? [ee, A] = a(e, t) : [A, ee] = a(e, t);
		let te = _.dir * (_.ori == 0 ? 1 : -1), ne = _.ori == 0 ? yi : bi, re = _.ori == 0 ? u : (e, t, n, r, i, a, o) => {
			u(e, t, n, i, r, o, a);
		}, ie = L(e.bands, sn).find((e) => e.series[0] == t), ae = ie == null ? 0 : ie.dir, oe = m.fillTo(e, t, m.min, m.max, ae), j = T(b(oe, v, w, S)), M, N, se, ce = C, le = T(m.width * P), ue = !1, de = null, fe = null, pe = null, me = null;
		d != null && (le == 0 || f != null) && (ue = !0, de = d.values(e, t, i, p), fe = /* @__PURE__ */ new Map(), new Set(de).forEach((e) => {
			e != null && fe.set(e, new Path2D());
		}), le > 0 && (pe = f.values(e, t, i, p), me = /* @__PURE__ */ new Map(), new Set(pe).forEach((e) => {
			e != null && me.set(e, new Path2D());
		})));
		let { x0: he, size: ge } = l;
		if (he != null && ge != null) {
			E = 1, h = he.values(e, t, i, p), he.unit == 2 && (h = h.map((t) => e.posToVal(x + t * C, _.key, !0)));
			let n = ge.values(e, t, i, p);
			N = ge.unit == 2 ? n[0] * C : y(n[0], _, C, x) - y(0, _, C, x), ce = Di(h, g, y, _, C, x, ce), se = ce - N + D;
		} else ce = Di(h, g, y, _, C, x, ce), se = ce * o + D, N = ce - se;
		se < 1 && (se = 0), le >= N / 2 && (le = 0), se < 5 && (T = Kt);
		let _e = se > 0, ve = ce - se - (_e ? le : 0);
		N = T(Ut(ve, k, O)), M = (E == 0 ? N / 2 : E == te ? 0 : N) - E * te * ((E == 0 ? D / 2 : 0) + (_e ? le / 2 : 0));
		let ye = {
			stroke: null,
			fill: null,
			clip: null,
			band: null,
			gaps: null,
			flags: 0
		}, be = ue ? null : new Path2D(), xe = null;
		if (ie != null) xe = e.data[ie.series[1]];
		else {
			let { y0: n, y1: r } = l;
			n != null && r != null && (g = r.values(e, t, i, p), xe = n.values(e, t, i, p));
		}
		let Se = ee * N, Ce = A * N;
		for (let n = te == 1 ? i : p; n >= i && n <= p; n += te) {
			let r = g[n];
			if (r == null) continue;
			if (xe != null) {
				let e = xe[n] ?? 0;
				if (r - e == 0) continue;
				j = b(e, v, w, S);
			}
			let i = y(_.distr != 2 || l != null ? h[n] : n, _, C, x), a = b(L(r, oe), v, w, S), o = T(i - M), s = T(Ft(a, j)), c = T(Pt(a, j)), u = s - c;
			if (r != null) {
				let i = r < 0 ? Ce : Se, a = r < 0 ? Se : Ce;
				ue ? (le > 0 && pe[n] != null && ne(me.get(pe[n]), o, c + jt(le / 2), N, Ft(0, u - le), i, a), de[n] != null && ne(fe.get(de[n]), o, c + jt(le / 2), N, Ft(0, u - le), i, a)) : ne(be, o, c + jt(le / 2), N, Ft(0, u - le), i, a), re(e, t, n, o - le / 2, c, N + le, u);
			}
		}
		return le > 0 ? ye.stroke = ue ? me : be : ue || (ye._fill = m.width == 0 ? m._fill : m._stroke ?? m._fill, ye.width = 0), ye.fill = ue ? fe : be, ye;
	});
}
function ki(e, t) {
	let n = L(t?.alignGaps, 0);
	return (t, r, i, a) => oi(t, r, (o, s, c, l, u, d, f, p, m, h, g) => {
		[i, a] = gt(c, i, a);
		let _ = o.pxRound, v = (e) => _(d(e, l, h, p)), y = (e) => _(f(e, u, g, m)), b, x, S;
		l.ori == 0 ? (b = hi, S = _i, x = Ci) : (b = gi, S = vi, x = q);
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
			flags: ii
		}, k = O.stroke, [ee, A] = si(t, r);
		if (o.fill != null || ee != 0) {
			let e = O.fill = new Path2D(k), n = y(o.fillTo(t, r, o.min, o.max, ee));
			S(e, T, n), S(e, w, n);
		}
		if (!o.spanGaps) {
			let e = [];
			e.push(...fi(s, c, i, a, C, v, n)), O.gaps = e = o.gaps(t, r, i, a, e), O.clip = ui(e, l.ori, p, m, h, g);
		}
		return A != 0 && (O.band = A == 2 ? [li(t, r, i, a, k, -1), li(t, r, i, a, k, 1)] : li(t, r, i, a, k, A)), O;
	});
}
function Ai(e) {
	return ki(ji, e);
}
function ji(e, t, n, r, i, a) {
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
var Mi = /* @__PURE__ */ new Set();
function Ni() {
	for (let e of Mi) e.syncRect(!0);
}
Ke && (ut(Ve, Je, Ni), ut(He, Je, Ni, !0), ut(We, Je, () => {
	Z.pxRatio = P;
}));
var Pi = Y(), Fi = J();
function Ii(e, t, n, r) {
	return (r ? [e[0], e[1]].concat(e.slice(2)) : [e[0]].concat(e.slice(1))).map((e, r) => Ri(e, r, t, n));
}
function Li(e, t) {
	return e.map((e, n) => n == 0 ? {} : H({}, t, e));
}
function Ri(e, t, n, r) {
	return H({}, t == 0 ? n : r, e);
}
function zi(e, t, n) {
	return t == null ? cn : [t, n];
}
var Bi = zi;
function Vi(e, t, n) {
	return t == null ? cn : wt(t, n, xt, !0);
}
function Hi(e, t, n, r) {
	return t == null ? cn : yt(t, n, e.scales[r].log, !1);
}
var Ui = Hi;
function Wi(e, t, n, r) {
	return t == null ? cn : bt(t, n, e.scales[r].log, !1);
}
var Gi = Wi;
function Ki(e, t, n, r, i) {
	let a = Ft(Ht(e), Ht(t)), o = t - e, s = ft(i / r * o, n);
	do {
		let e = n[s], t = r * e / o;
		if (t >= i && a + (e < 5 ? nn.get(e) : 0) <= 17) return [e, t];
	} while (++s < n.length);
	return [0, 0];
}
function qi(e) {
	let t, n;
	return e = e.replace(/(\d+)px/, (e, r) => (t = Mt((n = +r) * P)) + "px"), [
		e,
		t,
		n
	];
}
function Ji(e) {
	e.show && [e.font, e.labelFont].forEach((e) => {
		let t = V(e[2] * P, 1);
		e[0] = e[0].replace(/[0-9.]+px/, t + "px"), e[1] = t;
	});
}
function Z(e, t, n) {
	let r = { mode: L(e.mode, 1) }, i = r.mode;
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
	e = _n(e);
	let h = +L(e.pxAlign, 1), g = pi(h);
	(e.plugins || []).forEach((t) => {
		t.opts && (e = t.opts(r, e) || e);
	});
	let _ = e.ms || .001, v = r.series = i == 1 ? Ii(e.series || [], Nr, Qr, !1) : Li(e.series || [null], Zr), y = r.axes = Ii(e.axes || [], Ar, Kr, !0), b = r.scales = {}, x = r.bands = e.bands || [];
	x.forEach((e) => {
		e.fill = B(e.fill || null), e.dir = L(e.dir, -1);
	});
	let S = i == 2 ? v[1].facets[0].scale : v[0].scale, C = {
		axes: Jr,
		series: wr
	}, w = (e.drawOrder || ["axes", "series"]).map((e) => C[e]);
	function T(e) {
		let t = e.distr == 3 ? (t) => Rt(t > 0 ? t : e.clamp(r, t, e.min, e.max, e.key)) : e.distr == 4 ? (t) => Vt(t, e.asinh) : e.distr == 100 ? (t) => e.fwd(t) : (e) => e;
		return (n) => {
			let r = t(n), { _min: i, _max: a } = e, o = a - i;
			return (r - i) / o;
		};
	}
	function E(t) {
		let n = b[t];
		if (n == null) {
			let r = (e.scales || on)[t] || on;
			if (r.from != null) {
				E(r.from);
				let e = H({}, b[r.from], r, { key: t });
				e.valToPct = T(e), b[t] = e;
			} else {
				n = b[t] = H({}, t == S ? ei : ti, r), n.key = t;
				let e = n.time, a = n.range, o = ln(a);
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
				}, o = !1), !o && pn(a))) {
					let e = a;
					a = (t, n, r) => n == null ? cn : wt(n, r, e);
				}
				n.range = B(a || (e ? Bi : t == S ? n.distr == 3 ? Ui : n.distr == 4 ? Gi : zi : n.distr == 3 ? Hi : n.distr == 4 ? Wi : Vi)), n.auto = B(!o && n.auto), n.clamp = B(n.clamp || $r), n._min = n._max = null, n.valToPct = T(n);
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
	let te = e.tzDate || ((e) => new Date(Mt(e / _))), ne = e.fmtDate || Fn, re = _ == 1 ? er(te) : rr(te), ie = ar(te, ir(_ == 1 ? $n : nr, ne)), ae = ur(te, cr(lr, ne)), oe = [], j = r.legend = H({}, pr, e.legend), M = r.cursor = H({}, Sr, { drag: { y: i == 2 } }, e.cursor), N = j.show, Ne = M.show, Ve = j.markers;
	j.idxs = oe, Ve.width = B(Ve.width), Ve.dash = B(Ve.dash), Ve.stroke = B(Ve.stroke), Ve.fill = B(Ve.fill);
	let He, Ue, Ke, Ye = [], Xe = [], Ze, nt = !1, it = {};
	if (j.live) {
		let e = v[1] ? v[1].values : null;
		nt = e != null, Ze = nt ? e(r, 1, 0) : { _: 0 };
		for (let e in Ze) it[e] = Ge;
	}
	if (N) {
		if (He = et("table", be, l), Ke = et("tbody", null, He), j.mount(r, He), nt) {
			Ue = et("thead", null, He, Ke);
			let e = et("tr", null, Ue);
			for (var ot in et("th", null, e), Ze) et("th", Te, e).textContent = ot;
		} else Qe(He, Se), j.live && Qe(He, xe);
	}
	let ct = { show: !0 }, lt = { show: !1 };
	function pt(e, t) {
		if (t == 0 && (nt || !j.live || i == 2)) return cn;
		let n = [], a = et("tr", Ce, Ke, Ke.childNodes[t]);
		Qe(a, e.class), e.show || Qe(a, he);
		let o = et("th", null, a);
		if (Ve.show) {
			let e = tt(we, o);
			if (t > 0) {
				let n = Ve.width(r, t);
				n && (e.style.border = n + "px " + Ve.dash(r, t) + " " + Ve.stroke(r, t)), e.style.background = Ve.fill(r, t);
			}
		}
		let s = tt(Te, o);
		for (var c in e.label instanceof HTMLElement ? s.appendChild(e.label) : s.textContent = e.label, t > 0 && (Ve.show || (s.style.color = e.width > 0 ? Ve.stroke(r, t) : Ve.fill(r, t)), ht("click", o, (t) => {
			if (M._lock) return;
			wn(t);
			let n = v.indexOf(e);
			if ((t.ctrlKey || t.metaKey) != j.isolate) {
				let e = v.some((e, t) => t > 0 && t != n && e.show);
				v.forEach((t, r) => {
					r > 0 && ji(r, e ? r == n ? ct : lt : ct, !0, $.setSeries);
				});
			} else ji(n, { show: !e.show }, !0, $.setSeries);
		}, !1), Dn && ht(Re, o, (t) => {
			M._lock || (wn(t), ji(v.indexOf(e), ea, !0, $.setSeries));
		}, !1)), Ze) {
			let e = et("td", Ee, a);
			e.textContent = "--", n.push(e);
		}
		return [a, n];
	}
	let mt = /* @__PURE__ */ new Map();
	function ht(e, t, n, i = !0) {
		let a = mt.get(t) || {}, o = M.bind[e](r, t, n, i);
		o && (ut(e, t, a[e] = o), mt.set(t, a));
	}
	function gt(e, t, n) {
		let r = mt.get(t) || {};
		for (let n in r) (e == null || n == e) && (dt(n, t, r[n]), delete r[n]);
		e ?? mt.delete(t);
	}
	let _t = 0, Ct = 0, I = 0, R = 0, Et = 0, Dt = 0, Ot = Et, jt = Dt, Lt = I, zt = R, Ht = 0, Gt = 0, Kt = 0, Zt = 0;
	r.bbox = {};
	let Qt = !1, en = !1, tn = !1, an = !1, un = !1, hn = !1;
	function gn(e, t, n) {
		(n || e != r.width || t != r.height) && vn(e, t), Yr(!1), tn = !0, en = !0, li();
	}
	function vn(e, t) {
		r.width = _t = I = e, r.height = Ct = R = t, Et = Dt = 0, xn(), Sn();
		let n = r.bbox;
		Ht = n.left = $t(Et * P, .5), Gt = n.top = $t(Dt * P, .5), Kt = n.width = $t(I * P, .5), Zt = n.height = $t(R * P, .5);
	}
	function yn() {
		let e = !1, t = 0;
		for (; !e;) {
			t++;
			let n = Vr(t), i = Hr(t);
			e = t == 3 || n && i, e || (vn(r.width, r.height), en = !0);
		}
	}
	function bn({ width: e, height: t }) {
		gn(e, t);
	}
	r.setSize = bn;
	function xn() {
		let e = !1, t = !1, n = !1, r = !1;
		y.forEach((i, a) => {
			if (i.show && i._show) {
				let { side: a, _size: o } = i, s = a % 2, c = o + (i.label == null ? 0 : i.labelSize);
				c > 0 && (s ? (I -= c, a == 3 ? (Et += c, r = !0) : n = !0) : (R -= c, a == 0 ? (Dt += c, e = !0) : t = !0));
			}
		}), Ln[0] = e, Ln[1] = n, Ln[2] = t, Ln[3] = r, I -= Vn[1] + Vn[3], Et += Vn[3], R -= Vn[2] + Vn[0], Dt += Vn[0];
	}
	function Sn() {
		let e = Et + I, t = Dt + R, n = Et, r = Dt;
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
		let r = e.prox = B(e.prox), i = e.bias ??= 0;
		M.dataIdx = (e, a, o, s) => {
			if (a == 0) return o;
			let c = o, l = r(e, a, o, s) ?? z, u = l >= 0 && l < z, d = D.ori == 0 ? I : R, f = M.left, p = t[0], m = t[a];
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
			} else u && At(f - k(p[o], D, d, 0)) > l && (c = null);
			return c;
		};
	}
	let wn = (e) => {
		M.event = e;
	};
	M.idxs = oe, M._lock = !1;
	let Tn = M.points;
	Tn.show = B(Tn.show), Tn.size = B(Tn.size), Tn.stroke = B(Tn.stroke), Tn.width = B(Tn.width), Tn.fill = B(Tn.fill);
	let En = r.focus = H({}, e.focus || { alpha: .3 }, M.focus), Dn = En.prox >= 0, On = Dn && Tn.one, kn = [], An = [], jn = [];
	function Mn(e, t) {
		let n = Tn.show(r, t);
		if (n instanceof HTMLElement) return Qe(n, ye), Qe(n, e.class), rt(n, -10, -10, I, R), m.insertBefore(n, kn[t]), n;
	}
	function Nn(e, t) {
		if (i == 1 || t > 0) {
			let t = i == 1 && b[e.scale].time, n = e.value;
			e.value = t ? fn(n) ? ur(te, cr(n, ne)) : n || ae : n || Gr, e.label = e.label || (t ? Mr : jr);
		}
		if (On || t > 0) {
			e.width = e.width == null ? 1 : e.width, e.paths = e.paths || Pi || Jt, e.fillTo = B(e.fillTo || ci), e.pxAlign = +L(e.pxAlign, h), e.pxRound = pi(e.pxAlign), e.stroke = B(e.stroke || null), e.fill = B(e.fill || null), e._stroke = e._fill = e._paths = e._focus = null;
			let t = qr(Ft(1, e.width), 1), n = e.points = H({}, {
				size: t,
				width: Ft(1, t * .2),
				stroke: e.stroke,
				space: t * 2,
				paths: Fi,
				_stroke: null,
				_fill: null
			}, e.points);
			n.show = B(n.show), n.filter = B(n.filter), n.fill = B(n.fill), n.stroke = B(n.stroke), n.paths = B(n.paths), n.pxAlign = e.pxAlign;
		}
		if (N) {
			let n = pt(e, t);
			Ye.splice(t, 0, n[0]), Xe.splice(t, 0, n[1]), j.values.push(null);
		}
		if (Ne) {
			oe.splice(t, 0, null);
			let n = null;
			On ? t == 0 && (n = Mn(e, t)) : t > 0 && (n = Mn(e, t)), kn.splice(t, 0, n), An.splice(t, 0, 0), jn.splice(t, 0, 0);
		}
		Q("addSeries", t);
	}
	function Pn(e, t) {
		t ??= v.length, e = i == 1 ? Ri(e, t, Nr, Qr) : Ri(e, t, {}, Zr), v.splice(t, 0, e), Nn(v[t], t);
	}
	r.addSeries = Pn;
	function In(e) {
		if (v.splice(e, 1), N) {
			j.values.splice(e, 1), Xe.splice(e, 1);
			let t = Ye.splice(e, 1)[0];
			gt(null, t.firstChild), t.remove();
		}
		Ne && (oe.splice(e, 1), kn.splice(e, 1)[0].remove(), An.splice(e, 1), jn.splice(e, 1)), Q("delSeries", e);
	}
	r.delSeries = In;
	let Ln = [
		!1,
		!1,
		!1,
		!1
	];
	function Rn(e, t) {
		if (e._show = e.show, e.show) {
			let n = e.side % 2, i = b[e.scale];
			i ??= (e.scale = n ? v[1].scale : S, b[e.scale]);
			let a = i.time;
			e.size = B(e.size), e.space = B(e.space), e.rotate = B(e.rotate), ln(e.incrs) && e.incrs.forEach((e) => {
				!nn.has(e) && nn.set(e, rn(e));
			}), e.incrs = B(e.incrs || (i.distr == 2 ? Hn : a ? _ == 1 ? Qn : tr : Un)), e.splits = B(e.splits || (a && i.distr == 1 ? re : i.distr == 3 ? Ir : i.distr == 4 ? Lr : Fr)), e.stroke = B(e.stroke), e.grid.stroke = B(e.grid.stroke), e.ticks.stroke = B(e.ticks.stroke), e.border.stroke = B(e.border.stroke);
			let o = e.values;
			e.values = ln(o) && !ln(o[0]) ? B(o) : a ? ln(o) ? ar(te, ir(o, ne)) : fn(o) ? or(te, o) : o || ie : o || Pr, e.filter = B(e.filter || (i.distr >= 3 && i.log == 10 ? Ur : i.distr == 3 && i.log == 2 ? Wr : qt)), e.font = qi(e.font), e.labelFont = qi(e.labelFont), e._size = e.size(r, null, t, 0), e._space = e._rotate = e._incrs = e._found = e._splits = e._values = null, e._size > 0 && (Ln[t] = !0, e._el = tt(me, f));
		}
	}
	function zn(e, t, n, r) {
		let [i, a, o, s] = n, c = t % 2, l = 0;
		return c == 0 && (s || a) && (l = t == 0 && !i || t == 2 && !o ? Mt(Ar.size / 3) : 0), c == 1 && (i || o) && (l = t == 1 && !a || t == 3 && !s ? Mt(Kr.size / 2) : 0), l;
	}
	let Bn = r.padding = (e.padding || [
		zn,
		zn,
		zn,
		zn
	]).map((e) => B(L(e, zn))), Vn = r._padding = Bn.map((e, t) => e(r, t, Ln, 0)), U, W = null, G = null, Wn = i == 1 ? v[0].idxs : null, Gn = null, Kn = !1;
	function qn(e, n) {
		if (t = e ?? [], r.data = r._data = t, i == 2) {
			U = 0;
			for (let e = 1; e < v.length; e++) U += t[e][0].length;
		} else {
			t.length == 0 && (r.data = r._data = t = [[]]), Gn = t[0], U = Gn.length;
			let e = t;
			if (O == 2) {
				e = t.slice();
				let n = e[0] = Array(U);
				for (let e = 0; e < U; e++) n[e] = e;
			}
			r._data = t = e;
		}
		if (Yr(!0), Q("setData"), O == 2 && (tn = !0), n !== !1) {
			let e = D;
			e.auto(r, Kn) ? Jn() : Ai(S, e.min, e.max), an ||= M.left >= 0, hn = !0, li();
		}
	}
	r.setData = qn;
	function Jn() {
		Kn = !0;
		let e, n;
		i == 1 && (U > 0 ? (W = Wn[0] = 0, G = Wn[1] = U - 1, e = t[0][W], n = t[0][G], O == 2 ? (e = W, n = G) : e == n && (O == 3 ? [e, n] = yt(e, e, D.log, !1) : O == 4 ? [e, n] = bt(e, e, D.log, !1) : D.time ? n = e + Mt(86400 / _) : [e, n] = wt(e, n, xt, !0))) : (W = Wn[0] = e = null, G = Wn[1] = n = null)), Ai(S, e, n);
	}
	let Yn, Xn, K, Zn, sr, dr, fr, mr, hr, gr;
	function _r(e, t, n, r, i, a) {
		e ??= Pe, n ??= sn, r ??= "butt", i ??= Pe, a ??= "round", e != Yn && (d.strokeStyle = Yn = e), i != Xn && (d.fillStyle = Xn = i), t != K && (d.lineWidth = K = t), a != sr && (d.lineJoin = sr = a), r != dr && (d.lineCap = dr = r), n != Zn && d.setLineDash(Zn = n);
	}
	function vr(e, t, n, r) {
		t != Xn && (d.fillStyle = Xn = t), e != fr && (d.font = fr = e), n != mr && (d.textAlign = mr = n), r != hr && (d.textBaseline = hr = r);
	}
	function yr(e, t, n, i, a = 0) {
		if (i.length > 0 && e.auto(r, Kn) && (t == null || t.min == null)) {
			let t = L(W, 0), r = L(G, i.length - 1), o = n.min == null ? vt(i, t, r, a, e.distr == 3) : [n.min, n.max];
			e.min = Pt(e.min, n.min = o[0]), e.max = Ft(e.max, n.max = o[1]);
		}
	}
	let br = {
		min: null,
		max: null
	};
	function xr() {
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
				let a = e[t] = _n(b[t], mn);
				if (n.min != null) H(a, n);
				else if (t != S || i == 2) {
					if (U == 0 && a.from == null) {
						let e = a.range(r, null, null, t);
						a.min = e[0], a.max = e[1];
					} else a.min = z, a.max = -Infinity;
				}
			}
		}
		if (U > 0) {
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
					let e = n.range(r, n.min == z ? null : n.min, n.max == -Infinity ? null : n.max, t);
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
				i._min = e == 3 ? Rt(i.min) : e == 4 ? Vt(i.min, i.asinh) : e == 100 ? i.fwd(i.min) : i.min, i._max = e == 3 ? Rt(i.max) : e == 4 ? Vt(i.max, i.asinh) : e == 100 ? i.fwd(i.max) : i.max, n[t] = a = !0;
			}
		}
		if (a) {
			v.forEach((e, t) => {
				i == 2 ? t > 0 && n.y && (e._paths = null) : n[e.scale] && (e._paths = null);
			});
			for (let e in n) tn = !0, Q("setScale", e);
			Ne && M.left >= 0 && (an = hn = !0);
		}
		for (let e in A) A[e] = null;
	}
	function Cr(e) {
		let t = Ut(W - 1, 0, U - 1), n = Ut(G + 1, 0, U - 1);
		for (; e[t] == null && t > 0;) t--;
		for (; e[n] == null && n < U - 1;) n++;
		return [t, n];
	}
	function wr() {
		if (U > 0) {
			let e = v.some((e) => e._focus) && gr != En.alpha;
			e && (d.globalAlpha = gr = En.alpha), v.forEach((e, n) => {
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
		l = V(l * P, 3);
		let u = null, f = l % 2 / 2;
		t && c == null && (c = l > 0 ? "#fff" : s);
		let p = n.pxAlign == 1 && f > 0;
		if (p && d.translate(f, f), !t) {
			let e = Ht - l / 2, t = Gt - l / 2, n = Kt + l, r = Zt + l;
			u = new Path2D(), u.rect(e, t, n, r);
		}
		t ? Or(s, l, n.dash, n.cap, c, r, i, o, a) : Dr(e, s, l, n.dash, n.cap, c, r, i, o, u, a), p && d.translate(-f, -f);
	}
	function Dr(e, n, i, a, o, s, c, l, u, d, f) {
		let p = !1;
		u != 0 && x.forEach((m, h) => {
			if (m.series[0] == e) {
				let e = v[m.series[1]], g = t[m.series[1]], _ = (e._paths || on).band;
				ln(_) && (_ = m.dir == 1 ? _[0] : _[1]);
				let y, b = null;
				e.show && _ && Tt(g, W, G) ? (b = m.fill(r, h) || s, y = e._paths.clip) : _ = null, Or(n, i, a, o, b, c, l, u, d, f, y, _), p = !0;
			}
		}), p || Or(n, i, a, o, s, c, l, u, d, f);
	}
	function Or(e, t, n, r, i, a, o, s, c, l, u, f) {
		_r(e, t, n, r, i), (c || l || f) && (d.save(), c && d.clip(c), l && d.clip(l)), f ? (s & 3) == 3 ? (d.clip(f), u && d.clip(u), Rr(i, o), kr(e, a, t)) : s & ai ? (Rr(i, o), d.clip(f), kr(e, a, t)) : s & ii && (d.save(), d.clip(f), u && d.clip(u), Rr(i, o), d.restore(), kr(e, a, t)) : (Rr(i, o), kr(e, a, t)), (c || l || f) && d.restore();
	}
	function kr(e, t, n) {
		n > 0 && (t instanceof Map ? t.forEach((e, t) => {
			d.strokeStyle = Yn = t, d.stroke(e);
		}) : t != null && e && d.stroke(t));
	}
	function Rr(e, t) {
		t instanceof Map ? t.forEach((e, t) => {
			d.fillStyle = Xn = t, d.fill(e);
		}) : t != null && e && d.fill(t);
	}
	function zr(e, t, n, i) {
		let a = y[e], o;
		if (i <= 0) o = [0, 0];
		else {
			let s = a._space = a.space(r, e, t, n, i);
			o = Ki(t, n, a._incrs = a.incrs(r, e, t, n, i, s), i, s);
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
			let o = n.side, s = o % 2, { min: c, max: l } = a, [u, d] = zr(i, c, l, s == 0 ? I : R);
			if (d == 0) return;
			let f = a.distr == 2, p = n._splits = n.splits(r, i, c, l, u, d, f), m = a.distr == 2 ? p.map((e) => Gn[e]) : p, h = a.distr == 2 ? Gn[p[1]] - Gn[p[0]] : u, g = n._values = n.values(r, n.filter(r, m, i, d, h), i, d, h);
			n._rotate = o == 2 ? n.rotate(r, g, i, d) : 0;
			let _ = n._size;
			n._size = Nt(n.size(r, g, i, e)), _ != null && n._size != _ && (t = !1);
		}), t;
	}
	function Hr(e) {
		let t = !0;
		return Bn.forEach((n, i) => {
			let a = n(r, i, Ln, e);
			a != Vn[i] && (t = !1), Vn[i] = a;
		}), t;
	}
	function Jr() {
		for (let e = 0; e < y.length; e++) {
			let t = y[e];
			if (!t.show || !t._show) continue;
			let n = t.side, i = n % 2, a, o, c = t.stroke(r, e), l = n == 0 || n == 3 ? -1 : 1, [u, f] = t._found;
			if (t.label != null) {
				let s = t.labelGap * l, p = Mt((t._lpos + s) * P);
				vr(t.labelFont[0], c, "center", n == 2 ? ke : Ae), d.save(), i == 1 ? (a = o = 0, d.translate(p, Mt(Gt + Zt / 2)), d.rotate((n == 3 ? -kt : kt) / 2)) : (a = Mt(Ht + Kt / 2), o = p);
				let m = Wt(t.label) ? t.label(r, e, u, f) : t.label;
				d.fillText(m, a, o), d.restore();
			}
			if (f == 0) continue;
			let p = b[t.scale], m = i == 0 ? Kt : Zt, h = i == 0 ? Ht : Gt, _ = t._splits, v = p.distr == 2 ? _.map((e) => Gn[e]) : _, x = p.distr == 2 ? Gn[_[1]] - Gn[_[0]] : u, S = t.ticks, C = t.border, w = S.show ? S.size : 0, T = Mt(w * P), E = Mt((t.alignTo == 2 ? t._size - w - t.gap : t.gap) * P), D = t._rotate * -kt / 180, O = g(t._pos * P), k = O + (T + E) * l;
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
			S.show && Br(te, S.filter(r, v, e, f, x), i, n, O, T, V(S.width * P, 3), S.stroke(r, e), S.dash, S.cap);
			let re = t.grid;
			re.show && Br(te, re.filter(r, v, e, f, x), i, i == 0 ? 2 : 1, i == 0 ? Gt : Ht, i == 0 ? Zt : Kt, V(re.width * P, 3), re.stroke(r, e), re.dash, re.cap), C.show && Br([O], [1], +(i == 0), i == 0 ? 1 : 2, i == 1 ? Gt : Ht, i == 1 ? Zt : Kt, V(C.width * P, 3), C.stroke(r, e), C.dash, C.cap);
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
	let Xr = !1, ni = !1, oi = [];
	function si() {
		ni = !1;
		for (let e = 0; e < oi.length; e++) Q(...oi[e]);
		oi.length = 0;
	}
	function li() {
		Xr ||= (Cn(di), !0);
	}
	function ui(e, t = !1) {
		Xr = !0, ni = t, e(r), di(), t && oi.length > 0 && queueMicrotask(si);
	}
	r.batch = ui;
	function di() {
		if (Qt &&= (xr(), !1), tn &&= (yn(), !1), en) {
			if (F(p, je, Et), F(p, ke, Dt), F(p, De, I), F(p, Oe, R), F(m, je, Et), F(m, ke, Dt), F(m, De, I), F(m, Oe, R), F(f, De, _t), F(f, Oe, Ct), u.width = Mt(_t * P), u.height = Mt(Ct * P), y.forEach(({ _el: e, _show: t, _size: n, _pos: r, side: i }) => {
				if (e != null) {
					if (t) {
						let t = i === 3 || i === 0 ? n : 0, a = i % 2 == 1;
						F(e, a ? "left" : "top", r - t), F(e, a ? "width" : "height", n), F(e, a ? "top" : "left", a ? Dt : Et), F(e, a ? "height" : "width", a ? R : I), $e(e, he);
					} else Qe(e, he);
				}
			}), Yn = Xn = K = sr = dr = fr = mr = hr = Zn = null, gr = 1, pa(!0), Et != Ot || Dt != jt || I != Lt || R != zt) {
				Yr(!1);
				let e = I / Lt, t = R / zt;
				if (Ne && !an && M.left >= 0) {
					M.left *= e, M.top *= t, gi && rt(gi, Mt(M.left), 0, I, R), _i && rt(_i, 0, Mt(M.top), I, R);
					for (let n = 0; n < kn.length; n++) {
						let r = kn[n];
						r != null && (An[n] *= e, jn[n] *= t, rt(r, Nt(An[n]), Nt(jn[n]), I, R));
					}
				}
				if (X.show && !un && X.left >= 0 && X.width > 0) {
					X.left *= e, X.width *= e, X.top *= t, X.height *= t;
					for (let e in ga) F(Di, e, X[e]);
				}
				Ot = Et, jt = Dt, Lt = I, zt = R;
			}
			Q("setSize"), en = !1;
		}
		_t > 0 && Ct > 0 && (d.clearRect(0, 0, u.width, u.height), Q("drawClear"), w.forEach((e) => e()), Q("draw")), X.show && un && (Oi(X), un = !1), Ne && an && (da(null, !0, !1), an = !1), j.show && j.live && hn && (la(), hn = !1), c || (c = !0, r.status = 1, Q("ready")), Kn = !1, Xr = !1;
	}
	r.redraw = (e, t) => {
		tn = t || !1, e === !1 ? li() : Ai(S, D.min, D.max);
	};
	function fi(e, n) {
		let i = b[e];
		if (i.from == null) {
			if (U == 0) {
				let t = i.range(r, n.min, n.max, e);
				n.min = t[0], n.max = t[1];
			}
			if (n.min > n.max) {
				let e = n.min;
				n.min = n.max, n.max = e;
			}
			if (U > 1 && n.min != null && n.max != null && n.max - n.min < 1e-16) return;
			e == S && i.distr == 2 && U > 0 && (n.min = ft(n.min, t[0]), n.max = ft(n.max, t[0]), n.min == n.max && n.max++), A[e] = n, Qt = !0, li();
		}
	}
	r.setScale = fi;
	let mi, hi, gi, _i, vi, yi, bi, xi, Si, Ci, q, J, wi = !1, Ti = M.drag, Ei = Ti.x, Y = Ti.y;
	Ne && (M.x && (mi = tt(_e, m)), M.y && (hi = tt(ve, m)), D.ori == 0 ? (gi = mi, _i = hi) : (gi = hi, _i = mi), q = M.left, J = M.top);
	let X = r.select = H({
		show: !0,
		over: !0,
		left: 0,
		width: 0,
		top: 0,
		height: 0
	}, e.select), Di = X.show ? tt(ge, X.over ? m : p) : null;
	function Oi(e, t) {
		if (X.show) {
			for (let t in e) X[t] = e[t], t in ga && F(Di, t, e[t]);
			t !== !1 && Q("setSelect");
		}
	}
	r.setSelect = Oi;
	function ki(e) {
		if (v[e].show) N && $e(Ye[e], he);
		else if (N && Qe(Ye[e], he), Ne) {
			let t = On ? kn[0] : kn[e];
			t != null && rt(t, -10, -10, I, R);
		}
	}
	function Ai(e, t, n) {
		fi(e, {
			min: t,
			max: n
		});
	}
	function ji(e, t, n, a) {
		t.focus != null && ta(e), t.show != null && v.forEach((n, r) => {
			r > 0 && (e == r || e == null) && (n.show = t.show, ki(r), i == 2 ? (Ai(n.facets[0].scale, null, null), Ai(n.facets[1].scale, null, null)) : Ai(n.scale, null, null), li());
		}), n !== !1 && Q("setSeries", e, t), a && Ma("setSeries", r, e, t);
	}
	r.setSeries = ji;
	function Ni(e, t) {
		H(x[e], t);
	}
	function Z(e, t) {
		e.fill = B(e.fill || null), e.dir = L(e.dir, -1), t ??= x.length, x.splice(t, 0, e);
	}
	function Yi(e) {
		e == null ? x.length = 0 : x.splice(e, 1);
	}
	r.addBand = Z, r.setBand = Ni, r.delBand = Yi;
	function Xi(e, t) {
		v[e].alpha = t, Ne && kn[e] != null && (kn[e].style.opacity = t), N && Ye[e] && (Ye[e].style.opacity = t);
	}
	let Zi, Qi, $i, ea = { focus: !0 };
	function ta(e) {
		if (e != $i) {
			let t = e == null, n = En.alpha != 1;
			v.forEach((r, a) => {
				if (i == 1 || a > 0) {
					let i = t || a == 0 || a == e;
					r._focus = t ? null : i, n && Xi(a, i ? 1 : En.alpha);
				}
			}), $i = e, n && li();
		}
	}
	N && Dn && ht(ze, He, (e) => {
		M._lock || (wn(e), $i != null && ji(null, ea, !0, $.setSeries));
	});
	function na(e, t, n) {
		let r = b[t];
		n && (e = e / P - (r.ori == 1 ? Dt : Et));
		let i = I;
		r.ori == 1 && (i = R, e = i - e), r.dir == -1 && (e = i - e);
		let a = r._min, o = r._max, s = e / i, c = a + (o - a) * s, l = r.distr;
		return l == 3 ? It(10, c) : l == 4 ? Bt(c, r.asinh) : l == 100 ? r.bwd(c) : c;
	}
	function ra(e, n) {
		return ft(na(e, S, n), t[0], W, G);
	}
	r.valToIdx = (e) => ft(e, t[0]), r.posToIdx = ra, r.posToVal = na, r.valToPos = (e, t, n) => b[t].ori == 0 ? a(e, b[t], n ? Kt : I, n ? Ht : 0) : o(e, b[t], n ? Zt : R, n ? Gt : 0), r.setCursor = (e, t, n) => {
		q = e.left, J = e.top, da(null, t, n);
	};
	function ia(e, t) {
		F(Di, je, X.left = e), F(Di, De, X.width = t);
	}
	function aa(e, t) {
		F(Di, ke, X.top = e), F(Di, Oe, X.height = t);
	}
	let oa = D.ori == 0 ? ia : aa, sa = D.ori == 1 ? ia : aa;
	function ca() {
		if (N && j.live) for (let e = +(i == 2); e < v.length; e++) {
			if (e == 0 && nt) continue;
			let t = j.values[e], n = 0;
			for (let r in t) Xe[e][n++].firstChild.nodeValue = t[r];
		}
	}
	function la(e, t) {
		if (e != null && (e.idxs ? e.idxs.forEach((e, t) => {
			oe[t] = e;
		}) : dn(e.idx) || oe.fill(e.idx), j.idx = oe[0]), N && j.live) {
			for (let e = 0; e < v.length; e++) (e > 0 || i == 1 && !nt) && ua(e, oe[e]);
			ca();
		}
		hn = !1, t !== !1 && Q("setLegend");
	}
	r.setLegend = la;
	function ua(e, n) {
		let i = v[e], a = e == 0 && O == 2 ? Gn : t[e], o;
		nt ? o = i.values(r, e, n) ?? it : (o = i.value(r, n == null ? null : a[n], e, n), o = o == null ? it : { _: o }), j.values[e] = o;
	}
	function da(e, n, a) {
		Si = q, Ci = J, [q, J] = M.move(r, q, J), M.left = q, M.top = J, Ne && (gi && rt(gi, Mt(q), 0, I, R), _i && rt(_i, 0, Mt(J), I, R));
		let o, s = W > G;
		Zi = z, Qi = null;
		let c = D.ori == 0 ? I : R, l = D.ori == 1 ? I : R;
		if (q < 0 || U == 0 || s) {
			o = M.idx = null;
			for (let e = 0; e < v.length; e++) {
				let t = kn[e];
				t != null && rt(t, -10, -10, I, R);
			}
			Dn && ji(null, ea, !0, e == null && $.setSeries), j.live && (oe.fill(o), hn = !0);
		} else {
			let e, n, a;
			i == 1 && (e = D.ori == 0 ? q : J, n = na(e, S), o = M.idx = ft(n, t[0], W, G), a = k(t[0][o], D, c, 0));
			let s = -10, u = -10, d = 0, f = 0, p = !0, m = "", h = "";
			for (let e = +(i == 2); e < v.length; e++) {
				let g = v[e], _ = oe[e], y = _ == null ? null : i == 1 ? t[e][_] : t[e][1][_], x = M.dataIdx(r, e, o, n), S = x == null ? null : i == 1 ? t[e][x] : t[e][1][x];
				if (hn = hn || S != y || x != _, oe[e] = x, e > 0 && g.show) {
					let n = x == null ? -10 : x == o ? a : k(i == 1 ? t[0][x] : t[e][0][x], D, c, 0), _ = S == null ? -10 : ee(S, i == 1 ? b[g.scale] : b[g.facets[1].scale], l, 0);
					if (Dn && S != null) {
						let t = D.ori == 1 ? q : J, n = At(En.dist(r, e, x, _, t));
						if (n < Zi) {
							let r = En.bias;
							if (r != 0) {
								let i = na(t, g.scale), a = S >= 0 ? 1 : -1, o = i >= 0 ? 1 : -1;
								o == a && (o == 1 ? r == 1 ? S >= i : S <= i : r == 1 ? S <= i : S >= i) && (Zi = n, Qi = e);
							} else Zi = n, Qi = e;
						}
					}
					if (hn || On) {
						let t, i;
						D.ori == 0 ? (t = n, i = _) : (t = _, i = n);
						let a, o, c, l, g, v, y = !0, b = Tn.bbox;
						if (b != null) {
							y = !1;
							let t = b(r, e);
							c = t.left, l = t.top, a = t.width, o = t.height;
						} else c = t, l = i, a = o = Tn.size(r, e);
						if (v = Tn.fill(r, e), g = Tn.stroke(r, e), On) e == Qi && Zi <= En.prox && (s = c, u = l, d = a, f = o, p = y, m = v, h = g);
						else {
							let t = kn[e];
							t != null && (An[e] = c, jn[e] = l, st(t, a, o, y), at(t, v, g), rt(t, Nt(c), Nt(l), I, R));
						}
					}
				}
			}
			if (On) {
				let e = En.prox;
				if (hn || ($i == null ? Zi <= e : Zi > e || Qi != $i)) {
					let e = kn[0];
					e != null && (An[0] = s, jn[0] = u, st(e, d, f, p), at(e, m, h), rt(e, Nt(s), Nt(u), I, R));
				}
			}
		}
		if (X.show && wi) {
			if (e != null) {
				let [t, n] = $.scales, [r, i] = $.match, [a, o] = e.cursor.sync.scales, s = e.cursor.drag;
				if (Ei = s._x, Y = s._y, Ei || Y) {
					let { left: s, top: u, width: d, height: f } = e.select, p = e.scales[a].ori, m = e.posToVal, h, g, _, v, y, x = t != null && r(t, a), S = n != null && i(n, o);
					x && Ei ? (p == 0 ? (h = s, g = d) : (h = u, g = f), _ = b[t], v = k(m(h, a), _, c, 0), y = k(m(h + g, a), _, c, 0), oa(Pt(v, y), At(y - v))) : oa(0, c), S && Y ? (p == 1 ? (h = s, g = d) : (h = u, g = f), _ = b[n], v = ee(m(h, o), _, l, 0), y = ee(m(h + g, o), _, l, 0), sa(Pt(v, y), At(y - v))) : sa(0, l);
				} else _a();
			} else {
				let e = At(Si - vi), t = At(Ci - yi);
				if (D.ori == 1) {
					let n = e;
					e = t, t = n;
				}
				Ei = Ti.x && e >= Ti.dist, Y = Ti.y && t >= Ti.dist;
				let n = Ti.uni;
				n == null ? Ti.x && Ti.y && (Ei || Y) && (Ei = Y = !0) : Ei && Y && (Ei = e >= n, Y = t >= n, !Ei && !Y && (t > e ? Y = !0 : Ei = !0));
				let r, i;
				Ei && (D.ori == 0 ? (r = bi, i = q) : (r = xi, i = J), oa(Pt(r, i), At(i - r)), Y || sa(0, l)), Y && (D.ori == 1 ? (r = bi, i = q) : (r = xi, i = J), sa(Pt(r, i), At(i - r)), Ei || oa(0, c)), !Ei && !Y && (oa(0, 0), sa(0, 0));
			}
		}
		if (Ti._x = Ei, Ti._y = Y, e == null) {
			if (a) {
				if (Aa != null) {
					let [e, t] = $.scales;
					$.values[0] = e == null ? null : na(D.ori == 0 ? q : J, e), $.values[1] = t == null ? null : na(D.ori == 1 ? q : J, t);
				}
				Ma(Fe, r, q, J, I, R, o);
			}
			if (Dn) {
				let e = a && $.setSeries, t = En.prox;
				$i == null ? Zi <= t && ji(Qi, ea, !0, e) : Zi > t ? ji(null, ea, !0, e) : Qi != $i && ji(Qi, ea, !0, e);
			}
		}
		hn && (j.idx = o, la()), n !== !1 && Q("setCursor");
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
		if (fa ?? pa(!1), wn(e), e != null) n = e.clientX - fa.left, i = e.clientY - fa.top;
		else {
			if (n < 0 || i < 0) {
				q = -10, J = -10;
				return;
			}
			let [e, r] = $.scales, c = t.cursor.sync, [l, u] = c.values, [d, f] = c.scales, [p, m] = $.match, h = t.axes[0].side % 2 == 1, g = D.ori == 0 ? I : R, _ = D.ori == 1 ? I : R, v = h ? o : a, y = h ? a : o, x = h ? i : n, S = h ? n : i;
			if (n = d == null ? x / v * g : p(e, d) ? s(l, b[e], g, 0) : -10, i = f == null ? S / y * _ : m(r, f) ? s(u, b[r], _, 0) : -10, D.ori == 1) {
				let e = n;
				n = i, i = e;
			}
		}
		u && (t == null || t.cursor.event.type == Fe) && ((n <= 1 || n >= I - 1) && (n = $t(n, I)), (i <= 1 || i >= R - 1) && (i = $t(i, R))), l ? (vi = n, yi = i, [bi, xi] = M.move(r, n, i)) : (q = n, J = i);
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
		wi = !0, Ei = Y = Ti._x = Ti._y = !1, ha(e, t, n, i, a, o, s, !0, !1), e != null && (ht(Le, qe, Ca, !1), Ma(Ie, r, bi, xi, I, R, null));
		let { left: c, top: l, width: u, height: d } = X;
		va = c, ya = l, ba = u, xa = d;
	}
	function Ca(e, t, n, i, a, o, s) {
		wi = Ti._x = Ti._y = !1, ha(e, t, n, i, a, o, s, !1, !0);
		let { left: c, top: l, width: u, height: d } = X, f = u > 0 || d > 0, p = va != c || ya != l || ba != u || xa != d;
		if (f && p && Oi(X), Ti.setScale && f && p) {
			let e = c, t = u, n = l, r = d;
			if (D.ori == 1 && (e = l, t = d, n = c, r = u), Ei && Ai(S, na(e, S), na(e + t, S)), Y) for (let e in b) {
				let t = b[e];
				e != S && t.from == null && t.min != z && Ai(e, na(n + r, e), na(n, e));
			}
			_a();
		} else M.lock && (M._lock = !M._lock, da(t, !0, e != null));
		e != null && (gt(Le, qe), Ma(Le, r, q, J, I, R, null));
	}
	function wa(e, t, n, r, i, a, o) {
		if (M._lock) return;
		wn(e);
		let s = wi;
		if (wi) {
			let e = !0, t = !0, n, r;
			D.ori == 0 ? (n = Ei, r = Y) : (n = Y, r = Ei), n && r && (e = q <= 10 || q >= I - 10, t = J <= 10 || J >= R - 10), n && e && (q = q < bi ? 0 : I), r && t && (J = J < xi ? 0 : R), da(null, !0, !0), wi = !1;
		}
		q = -10, J = -10, oe.fill(null), da(null, !0, !0), s && (wi = s);
	}
	function Ta(e, t, n, i, a, o, s) {
		M._lock || (wn(e), Jn(), _a(), e != null && Ma(Be, r, q, J, I, R, null));
	}
	function Ea() {
		y.forEach(Ji), gn(r.width, r.height, !0);
	}
	ut(We, Je, Ea);
	let Da = {};
	Da.mousedown = Sa, Da.mousemove = ma, Da.mouseup = Ca, Da.dblclick = Ta, Da.setSeries = (e, t, n, i) => {
		let a = $.match[2];
		n = a(r, t, n), n != -1 && ji(n, i, !0, !1);
	}, Ne && (ht(Ie, m, Sa), ht(Fe, m, ma), ht(Re, m, (e) => {
		wn(e), pa(!1);
	}), ht(ze, m, wa), ht(Be, m, Ta), Mi.add(r), r.syncRect = pa);
	let Oa = r.hooks = e.hooks || {};
	function Q(e, t, n) {
		ni ? oi.push([
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
	let ka = (e, t, n) => n, $ = H({
		key: null,
		setSeries: !1,
		filters: {
			pub: Yt,
			sub: Yt
		},
		scales: [S, v[1] ? v[1].scale : null],
		match: [
			Xt,
			Xt,
			ka
		],
		values: [null, null]
	}, M.sync);
	$.match.length == 2 && $.match.push(ka), M.sync = $;
	let Aa = $.key, ja = ri(Aa);
	function Ma(e, t, n, r, i, a, o) {
		$.filters.pub(e, t, n, r, i, a, o) && ja.pub(e, t, n, r, i, a, o);
	}
	ja.sub(r);
	function Na(e, t, n, r, i, a, o) {
		$.filters.sub(e, t, n, r, i, a, o) && Da[e](null, t, n, r, i, a, o);
	}
	r.pub = Na;
	function Pa() {
		ja.unsub(r), Mi.delete(r), mt.clear(), dt(We, Je, Ea), l.remove(), He?.remove(), Q("destroy");
	}
	r.destroy = Pa;
	function Fa() {
		Q("init", e, t), qn(t || e.data, !1), A[S] ? fi(S, A[S]) : Jn(), un = X.show && (X.width > 0 || X.height > 0), an = hn = !0, gn(e.width, e.height);
	}
	return v.forEach(Nn), y.forEach(Rn), n ? n instanceof HTMLElement ? (n.appendChild(l), Fa()) : n(r, Fa) : Fa(), r;
}
Z.assign = H, Z.fmtNum = Dt, Z.rangeNum = wt, Z.rangeLog = yt, Z.rangeAsinh = bt, Z.orient = oi, Z.pxRatio = P, Z.join = Sn, Z.fmtDate = Fn, Z.tzDate = Ln, Z.sync = ri;
{
	Z.addGap = di, Z.clipGaps = ui;
	let e = Z.paths = { points: J };
	e.linear = Y, e.stepped = X, e.bars = Oi, e.spline = Ai;
}
// src/charts/marks.ts
function Yi(e, t, n) {
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
function Xi(e, t, n) {
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
function Zi(e, t, n) {
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
function Qi(e, t, n) {
	let { ctx: r, bbox: i, valToPos: a } = e, o = Math.max(a(t.begin, "x", !0), i.left), s = Math.min(a(t.end, "x", !0), i.left + i.width) - o;
	s <= 0 || s >= i.width || (r.save(), r.globalAlpha = .15, r.fillStyle = n("--muted"), r.fillRect(o, i.top, s, i.height), r.restore());
}
function $i(e, t, n) {
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
var ea = /* @__PURE__ */ new Set([
	"dots",
	"discs",
	"circles",
	"squares",
	"crosses"
]), ta = 96 / 72, na = (e) => ({
	x: (t) => e.valToPos(t, "x", !0),
	y: (t) => e.valToPos(t, "y", !0),
	min: e.scales.x.min,
	max: e.scales.x.max
});
function ra({ x: e, y: t }, n) {
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
function ia({ x: e, y: t, min: r, max: i }, a) {
	let o = new Path2D(), s = Math.max(n(a.x, r) - 1, 0), c = Math.min(n(a.x, i) + 1, a.x.length), l = (e) => a.low?.[e] ?? 0;
	for (let n = s; n < c; n += 1) n > s ? o.lineTo(e(a.x[n]), t(a.y[n - 1])) : o.moveTo(e(a.x[n]), t(a.y[n])), o.lineTo(e(a.x[n]), t(a.y[n]));
	for (let n = c - 1; n >= s; --n) o.lineTo(e(a.x[n]), t(l(n))), n > s && o.lineTo(e(a.x[n]), t(l(n - 1)));
	return o.closePath(), {
		stroke: null,
		fill: o
	};
}
function aa({ x: e, y: t, min: n, max: r }, i) {
	let [a, o] = [new Path2D(), new Path2D()], s = i.size * ta * devicePixelRatio / 2;
	for (let [c, l] of i.x.entries()) {
		if (l < n || l > r || Number.isNaN(i.y[c])) continue;
		let [u, d] = [e(l), t(i.y[c])];
		i.begins && i.ends && (o.moveTo(e(i.begins[c]), d), o.lineTo(e(i.ends[c]), d)), i.least && i.most && (o.moveTo(u, t(i.least[c])), o.lineTo(u, t(i.most[c]))), i.kind === "crosses" ? (a.moveTo(u - s, d - s), a.lineTo(u + s, d + s), a.moveTo(u - s, d + s), a.lineTo(u + s, d - s)) : i.kind === "squares" ? a.rect(u - s, d - s, 2 * s, 2 * s) : (a.moveTo(u + s, d), a.arc(u, d, s, 0, 2 * Math.PI));
	}
	return oa(i) ? (a.addPath(o), {
		stroke: a,
		fill: null
	}) : {
		stroke: o,
		fill: a
	};
}
var oa = ({ kind: e }) => e === "crosses" || e === "circles";
function sa({ x: e, y: t, min: n, max: r }, i) {
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
function ca({ x: e, y: t }, n) {
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
var la = {
	area: ia,
	curve: ra,
	strokes: sa,
	bars: ca
}, ua = (e) => e in la, da = (e, t) => ({
	width: 1.1,
	paths: (t) => ra(na(t), e),
	points: {
		show: !0,
		width: 1.3,
		stroke: () => t(e.colour),
		fill: () => t(oa(e) ? "--paper" : e.colour),
		paths: (t) => {
			let n = aa(na(t), e);
			return {
				...n,
				fill: n.fill ?? n.stroke,
				clip: fa(t)
			};
		}
	}
});
function fa({ bbox: e }) {
	let t = new Path2D();
	return t.rect(e.left, e.top, e.width, e.height), t;
}
function pa(e, t, n, r) {
	let a = ua(e.kind) ? la[e.kind] : ea.has(e.kind) ? aa : null, s = a === null || a === ra, c = e.listed === !1 && (s ? r : a !== aa || r || e.size > 4), l = e.kind === "strokes" && e.tipped === !0, u = !s && !e.joined ? void 0 : e.dashed ? i : e.dashes && o(e.dashes);
	return {
		label: e.name,
		...c ? { class: "unlisted" } : l ? { class: "silent" } : {},
		stroke: () => t(e.colour),
		fill: () => t(e.colour),
		width: a === aa ? 1.3 : Math.max(e.size * .9, .8),
		alpha: e.opacity ?? 1,
		cap: e.kind === "strokes" ? "round" : "butt",
		...u ? { dash: u } : {},
		spanGaps: e.kind !== "line",
		points: { show: !1 },
		paths: a ? (t) => a(na(t), e) : ma(e.kind),
		...e.joined ? da(e, t) : {},
		value: (e, t) => l ? "" : d(t, n)
	};
}
function ma(e) {
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
function ha(e) {
	if (e.kind === "bars") return [[], []];
	let t = /* @__PURE__ */ new Map();
	for (let [n, r] of e.x.entries()) t.set(r, Number.isNaN(e.y[n]) ? null : e.y[n]);
	let n = [...t.keys()].sort((e, t) => e - t);
	return [n, n.map((e) => t.get(e) ?? null)];
}
// src/charts/panel.ts
var ga = .06;
function _a(e, n, r) {
	let { chart: i, colour: a } = r, o = e.appendChild(ba("div", "head"));
	o.appendChild(ba("b")).textContent = n.title;
	let s = t(n, r.xs), c = i.axes[n.x], l = i.rows[r.row + 1]?.[r.column], u = l?.x !== n.x && c.label !== "", p = n.part, m = p && o.appendChild(ba("button")), h = ({ min: e, max: t }) => e === c.reach[0] && t === c.reach[1], g = s.map(ha), _ = s.some((e) => e.kind === "bars"), v = new Z({
		width: Math.max(e.clientWidth, 200),
		height: i.heights[r.row] + (l ? u ? 18 : 0 : 30),
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
				min: c.reach[0],
				max: c.reach[1],
				range: (e, t, n) => [t, n],
				...va(c)
			},
			y: {
				...va(n.y),
				...n.y.names ? { dir: -1 } : {},
				range: (e, t, r) => wa(e, n, s, t, r)
			}
		},
		series: [{
			label: c.label,
			value: (e, t) => d(t, p ? 9 : 6)
		}, ...s.map((e, t) => {
			let n = s.slice(0, t).some(({ name: t }) => t === e.name);
			return pa(e, a, p ? 8 : 4, n);
		})],
		axes: [{
			...f(a, 12),
			size: 26,
			label: u ? c.label : "",
			labelSize: u ? 18 : 0,
			...c.names ? xa(c.names) : Ca(c)
		}, {
			...f(a, 12),
			label: n.y.label,
			labelSize: n.y.label ? 18 : 0,
			...Sa(n.y)
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
				min: c.reach[0],
				max: c.reach[1]
			}), null) },
			points: p ? { show: !1 } : { size: 6 }
		},
		legend: {
			show: !_ && i.key.length === 0,
			mount: (e, t) => o.appendChild(t),
			markers: {
				width: 0,
				fill: (e, t) => t ? a(s[t - 1].colour) : "transparent"
			}
		},
		hooks: {
			setScale: [(e, t) => {
				t === "x" && (r.moved(e, n.x), m && (m.textContent = h(e.scales.x) ? `Show ${p.name}` : "Show all of it"));
			}],
			drawAxes: p ? [(e) => Qi(e, p, a)] : [],
			draw: [
				(e) => Xi(e, n.levels, a),
				(e) => Zi(e, n.feet, a),
				(e) => Yi(e, n.marks, a),
				..._ ? [(e) => $i(e, s, a)] : []
			],
			..._ ? { setCursor: [Da(o, n, s)] } : {}
		}
	}, g.some(([e]) => e.length) ? Z.join(g) : ya(c.reach, s.length), e);
	return m?.addEventListener("click", () => {
		let [e, t] = h(v.scales.x) ? [p.begin, p.end] : c.reach;
		v.setScale("x", {
			min: e,
			max: t
		});
	}), Ea(o, n), n.note && (e.appendChild(ba("p", "note")).textContent = n.note), v;
}
var va = (e) => e.logarithmic ? { distr: 3 } : {}, ya = (e, t) => [[...e], ...Array.from({ length: t }, () => [null, null])];
function ba(e, t = "") {
	let n = document.createElement(e);
	return t && (n.className = t), n;
}
var xa = (e) => ({
	splits: () => e.map((e, t) => t),
	values: () => e
});
function Sa(e) {
	let t = (e) => Math.min(Math.max(52, 14 + 7 * Math.max(0, ...(e ?? []).map((e) => e.length))), 260);
	if (e.names) {
		let n = e.names.map((e) => e.length > 34 ? `${e.slice(0, 33)}…` : e);
		return {
			...xa(n),
			size: () => t(n),
			grid: { show: !1 }
		};
	}
	return {
		size: (e, n) => t(n),
		space: 26,
		...Ca(e)
	};
}
var Ca = (e) => ({
	values: (e, t) => t.map(c),
	...e.logarithmic ? {
		splits: (e, t, n, r) => l(n, r),
		filter: (e, t) => u(t)
	} : {}
});
function wa(e, t, n, r, i) {
	let { names: a, low: o, high: s } = t.y;
	if (a) return [-.6, a.length - .4];
	if (t.part) return Ta(e, n);
	let c = t.levels.filter((e) => e.along === "y").map((e) => e.at), l = n.flatMap((e) => [...e.least ?? [], ...e.most ?? []]).filter(isFinite), u = [...c, ...l].filter((e) => !t.y.logarithmic || e > 0), [d, f] = [Math.min(r ?? Infinity, ...u), Math.max(i ?? -Infinity, ...u)];
	if (d > f) return [o ?? 0, s ?? 1];
	if (t.y.logarithmic && d > 0) {
		let e = ((s ?? f) / (o ?? d)) ** ga || 1;
		return [o ?? d / e, s ?? f * e];
	}
	let p = (f - (o ?? d) || Math.abs(f) || 1) * ga;
	return [o ?? d - p, s ?? f + p];
}
function Ta(e, t) {
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
function Ea(e, t) {
	for (let n of t.levels.filter((e) => e.name)) {
		let t = e.appendChild(ba("span", `level ${n.look}`));
		t.textContent = n.name, t.style.setProperty("--of", `var(${n.colour})`);
	}
	for (let n of t.feet) {
		let t = e.appendChild(ba("span", "foot"));
		t.textContent = n.name, t.style.setProperty("--of", `var(${n.colour})`);
	}
}
function Da(e, t, n) {
	let r = e.appendChild(ba("span", "values-at-cursor"));
	return (e) => {
		let { left: i = -1, top: a = -1 } = e.cursor;
		if (r.textContent = "", i < 0 || a < 0) return;
		let [o, s] = [e.posToVal(i, "x"), e.posToVal(a, "y")];
		for (let e of n) {
			let n = e.x.findIndex((t, n) => t <= o && o <= (e.toX?.[n] ?? t) && Math.abs(e.y[n] - s) <= e.size / 2);
			if (n < 0 || e.kind !== "bars") continue;
			let i = t.y.names?.[Math.round(e.y[n])] ?? "", [a, c] = [d(e.x[n], 4), d(e.toX?.[n], 4)];
			r.textContent = `${i === e.name ? i : `${i}, ${e.name}`}: ${e.words?.[n] ?? `${a} to ${c}`}`;
		}
	};
}
// src/charts/chart.ts
var Oa = 0;
function Q(t, n, r) {
	let i = n.xs.map(e), a = `chart${Oa += 1}`, o = [], s = !1;
	t.classList.add("drawn"), t.dataset.name = n.name;
	let c = n.rows.flat(), l = c.some((e) => e.part || e.rows_of);
	if (t.setAttribute("role", l ? "group" : "img"), t.setAttribute("aria-label", n.title), n.note) {
		let e = t.appendChild(document.createElement("p"));
		e.className = "note", e.textContent = n.note;
	}
	n.key.length && w(t, n.key), c[0]?.rows_of && _(t, c[0].y);
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
				m(s, l, n.axes[l.x], i);
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
				plot: _a(s, l, d),
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
		picture: () => O(t, n, o, r),
		csv: () => ne(n, i),
		destroy: () => o.forEach(({ plot: e }) => e.destroy())
	};
}
// src/report/saving.ts
function ka(e, t) {
	let n = document.createElement("span");
	n.className = "hint";
	let r = t.rows.flat().some((e) => !e.rows_of);
	return n.append(`${r ? " Drag to zoom, double-click to zoom out." : ""} Save as `, $("PNG", t, () => e.picture().toBlob((e) => e && M(`${t.name}.png`, e))), " or ", $("CSV", t, () => M(`${t.name}.csv`, new Blob([e.csv()], { type: "text/csv" }))), "."), n;
}
function $(e, t, n) {
	let r = document.createElement("button");
	return r.type = "button", r.textContent = e, r.setAttribute("aria-label", `${e} of ${t.title}`), r.addEventListener("click", n), r;
}
// src/notebook/main.ts
function Aa() {
	let { body: e, documentElement: t } = document, n = e.dataset.jpThemeLight;
	if (n !== void 0) return n === "false";
	if (/\bvscode-(dark|light)\b/.test(e.className)) return e.classList.contains("vscode-dark");
	let r = t.getAttribute("theme");
	return r ? r === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
function ja({ model: e, el: t }) {
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
			let o = Q(a, t, r);
			e.appendChild(document.createElement("figcaption")).append(`${t.title}.`, ka(o, t)), i.push(o);
		}
	}
	function s() {
		n.classList.toggle("dark", Aa()), i.forEach((e) => e.repaint());
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
var Ma = { render: ja };
export { Ma as default };
