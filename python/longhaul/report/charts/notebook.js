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
			r.className = "none", r.title = t.words?.[a] ?? "no value";
			let e = r.appendChild(document.createElement("span"));
			e.className = "unseen", e.textContent = r.title;
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
		if (e.fillStyle = c.backgroundColor, e.fillRect(t - r.left, a - r.top, o, s), e.fillStyle = c.color || n("--ink"), e.font = `${c.fontWeight} ${c.fontSize} ${c.fontFamily}`, i.matches(".none")) b(e, t - r.left, a - r.top, o, s, c);
		else for (let t of x(i)) S(e, t, r);
	}
}
function b(e, t, n, r, i, a) {
	e.strokeStyle = a.outlineColor, e.lineWidth = 1, e.setLineDash([3, 3]), e.strokeRect(t + 1.5, n + 1.5, r - 3, i - 3), e.setLineDash([]);
}
function x(e) {
	let t = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), n = [];
	for (; t.nextNode();) n.push(t.currentNode);
	return n;
}
function S(e, t, n) {
	let r = document.createRange();
	r.selectNodeContents(t);
	let { left: i, top: a, height: o } = r.getBoundingClientRect();
	e.fillText(t.data, i - n.left, a - n.top + o / 2);
}
// src/charts/key.ts
var C = {
	discs: "●",
	circles: "○",
	squares: "■",
	crosses: "×"
}, w = 18;
function T(e, t) {
	let n = e.appendChild(document.createElement("p"));
	n.className = "key";
	for (let { name: e, colour: r, kind: i, dashed: a } of t) {
		let t = n.appendChild(document.createElement("span"));
		t.textContent = e, t.dataset.sign = C[i] ?? "", t.className = C[i] ? "sign" : a ? "stroke dashed" : "stroke", t.style.setProperty("--of", `var(${r})`);
	}
}
function E(e, t, n, a) {
	let o = t.getBoundingClientRect();
	for (let [s, c] of [...t.querySelectorAll(".key span")].entries()) {
		let { left: t, top: l, height: u } = c.getBoundingClientRect(), { name: d, kind: f, dashed: p, colour: m } = n[s], [h, g] = [t - o.left, l - o.top + u / 2];
		e.font = r(12), e.fillStyle = e.strokeStyle = a(m);
		let _ = C[f];
		_ ? e.fillText(_, h, g) : (e.setLineDash(p ? i : []), e.lineWidth = 2, e.beginPath(), e.moveTo(h, g), e.lineTo(h + w - 4, g), e.stroke(), e.setLineDash([])), e.fillStyle = a("--muted"), e.fillText(d, h + w, g);
	}
}
// src/charts/export.ts
var D = 18, O = 10;
function k(e, t, n, i) {
	let a = devicePixelRatio, o = e.getBoundingClientRect(), s = document.createElement("canvas");
	s.width = (o.width + 20) * a, s.height = (o.height + D + 20) * a;
	let c = s.getContext("2d");
	c.scale(a, a), c.fillStyle = i("--paper"), c.fillRect(0, 0, s.width, s.height), c.translate(O, O), c.textBaseline = "middle", j(c, t.title, 0, D / 2, `600 ${r(13)}`, i("--ink")), c.translate(0, D), E(c, e, t.key, i), y(c, e, i);
	for (let { plot: e, box: t, panel: r } of n) {
		let n = e.root.getBoundingClientRect(), [s, l] = [n.left - o.left, n.top - o.top];
		c.drawImage(e.ctx.canvas, s, l, n.width, e.ctx.canvas.height / a), ee(c, r, s, t.getBoundingClientRect().top - o.top, s + n.width, i);
	}
	return s;
}
function ee(e, t, n, i, a, o) {
	let s = i + D / 2, c = n + j(e, t.title, n, s, r(12), o("--ink"));
	t.title && (c += 12);
	for (let n of t.series.filter((e) => e.listed !== !1)) {
		let t = A(e, n.name, r(12)) + 26;
		if (c + t > a) break;
		e.strokeStyle = o(n.colour), e.lineWidth = 3, e.setLineDash((n.dashes ?? []).map((e) => e * 2 / 3)), e.beginPath(), e.moveTo(c, s), e.lineTo(c + 16, s), e.stroke(), j(e, n.name, c + 20, s, r(12), o("--muted")), c += t + 8;
	}
	e.setLineDash([]);
}
function A(e, t, n) {
	return e.font = n, e.measureText(t).width;
}
function j(e, t, n, r, i, a) {
	return e.font = i, e.fillStyle = a, e.fillText(t, n, r), A(e, t, i);
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
	return [te, ...e.rows.flat().flatMap((n) => re(n, e, t))].map((e) => `${e.map(N).join(",")}\r\n`).join("");
}
function re(e, n, r) {
	let i = n.axes[e.x], [a, o] = [i, e.y].map((e) => ae(e.label || (e.names ? "name" : ""))), s = (t, n, r, ...i) => [
		e.title,
		t,
		n,
		...a,
		r,
		...o,
		...i.map(M)
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
	}), l = e.feet.flatMap((e) => e.x.map((t) => s(e.name, M(t), "", void 0, void 0, void 0, void 0)));
	return [...c, ...l];
}
var ie = ({ names: e }, t) => e?.[Math.round(t)] ?? M(t);
function ae(e) {
	let t = /^(.*?)\s*\[([^\]]*)\]\s*$/.exec(e);
	return t ? [t[1], t[2]] : [e, ""];
}
var M = (e) => e === void 0 || Number.isNaN(e) ? "" : String(e), N = (e) => /[",\r\n]/.test(e) ? `"${e.replaceAll("\"", "\"\"")}"` : e;
function P(e, t) {
	let n = URL.createObjectURL(t), r = document.createElement("a");
	r.href = n, r.download = e, r.click(), setTimeout(() => URL.revokeObjectURL(n), 6e4);
}
// node_modules/uplot/dist/uPlot.esm.js
var oe = !0, se = "uplot", ce = "u-hz", le = "u-vt", ue = "u-title", de = "u-wrap", fe = "u-under", pe = "u-over", me = "u-axis", he = "u-off", ge = "u-select", _e = "u-cursor-x", ve = "u-cursor-y", ye = "u-cursor-pt", be = "u-legend", xe = "u-live", Se = "u-inline", Ce = "u-series", we = "u-marker", Te = "u-label", Ee = "u-value", De = "width", Oe = "height", ke = "top", Ae = "bottom", je = "left", Me = "right", Ne = "#000", Pe = "#0000", Fe = "mousemove", Ie = "mousedown", Le = "mouseup", Re = "mouseenter", ze = "mouseleave", Be = "dblclick", Ve = "resize", He = "scroll", Ue = "change", We = "dppxchange", Ge = "--", Ke = typeof window < "u", qe = Ke ? document : null, Je = Ke ? window : null, Ye = Ke ? navigator : null, F, Xe;
function Ze() {
	let e = devicePixelRatio;
	F != e && (F = e, Xe && dt(Ue, Xe, Ze), Xe = matchMedia(`(min-resolution: ${F - .001}dppx) and (max-resolution: ${F + .001}dppx)`), ut(Ue, Xe, Ze), Je.dispatchEvent(new CustomEvent(We)));
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
function I(e, t, n) {
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
	for (; r - n > 1;) i = a ? n + r >> 1 : At((n + r) / 2), t[i] < e ? n = i : r = i;
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
	return [s ?? H, c ?? -H];
}
function yt(e, t, n, r) {
	let i = Ft(e), a = Ft(t);
	e == t && (i == -1 ? (e *= n, t /= n) : (e /= n, t *= n));
	let o = n == 10 ? It : Lt, s = i == 1 ? At : jt, c = a == 1 ? jt : At, l = s(o(B(e))), u = c(o(B(t))), d = Pt(n, l), f = Pt(n, u);
	return n == 10 && (l < 0 && (d = W(d, -l)), u < 0 && (f = W(f, -u))), r || n == 2 ? (e = d * i, t = f * a) : (e = $t(e, d), t = Qt(t, f)), [e, t];
}
function bt(e, t, n, r) {
	let i = yt(e, t, n, r);
	return e == 0 && (i[0] = 0), t == 0 && (i[1] = 0), i;
}
var xt = .1, St = {
	mode: 3,
	pad: xt
}, L = {
	pad: 0,
	soft: null,
	mode: 0
}, R = {
	min: L,
	max: L
};
function Ct(e, t, n, r) {
	return dn(n) ? Tt(e, t, n) : (L.pad = n, L.soft = r ? 0 : null, L.mode = r ? 3 : 0, Tt(e, t, R));
}
function z(e, t) {
	return e ?? t;
}
function wt(e, t, n) {
	for (t = z(t, 0), n = z(n, e.length - 1); t <= n;) {
		if (e[t] != null) return !0;
		t++;
	}
	return !1;
}
function Tt(e, t, n) {
	let r = n.min, i = n.max, a = z(r.pad, 0), o = z(i.pad, 0), s = z(r.hard, -H), c = z(i.hard, H), l = z(r.soft, H), u = z(i.soft, -H), d = z(r.mode, 0), f = z(i.mode, 0), p = t - e, m = It(p), h = Nt(B(e), B(t)), g = B(It(h) - m);
	(p < 1e-24 || g > 10) && (p = 0, (e == 0 || t == 0) && (p = 1e-24, d == 2 && l != H && (a = 0), f == 2 && u != -H && (o = 0)));
	let _ = p || h || 1e3, v = Pt(10, At(It(_))), y = W($t(e - _ * (p == 0 ? e == 0 ? .1 : 1 : a), v / 10), 24), b = e >= l && (d == 1 || d == 3 && y <= l || d == 2 && y >= l) ? l : H, x = Nt(s, y < b && e >= b ? b : Mt(b, y)), S = W(Qt(t + _ * (p == 0 ? t == 0 ? .1 : 1 : o), v / 10), 24), C = t <= u && (f == 1 || f == 3 && S >= u || f == 2 && S <= u) ? u : -H, w = Mt(c, S > C && t <= C ? C : Nt(C, S));
	return x == w && x == 0 && (w = 100), [x, w];
}
var Et = new Intl.NumberFormat(Ke ? Ye.language : "en-US"), Dt = (e) => Et.format(e), Ot = Math, kt = Ot.PI, B = Ot.abs, At = Ot.floor, V = Ot.round, jt = Ot.ceil, Mt = Ot.min, Nt = Ot.max, Pt = Ot.pow, Ft = Ot.sign, It = Ot.log10, Lt = Ot.log2, Rt = (e, t = 1) => Ot.sinh(e) * t, zt = (e, t = 1) => Ot.asinh(e / t), H = Infinity;
function Bt(e) {
	return (It((e ^ e >> 31) - (e >> 31)) | 0) + 1;
}
function Vt(e, t, n) {
	return Mt(Nt(e, t), n);
}
function Ht(e) {
	return typeof e == "function";
}
function U(e) {
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
	return W(e, r);
};
function Zt(e, t) {
	return Xt(W(Xt(e / t)) * t);
}
function Qt(e, t) {
	return Xt(jt(Xt(e / t)) * t);
}
function $t(e, t) {
	return Xt(At(Xt(e / t)) * t);
}
function W(e, t = 0) {
	if (cn(e)) return e;
	let n = 10 ** t;
	return V(e * n * (1 + 2 ** -52)) / n;
}
var en = /* @__PURE__ */ new Map();
function tn(e) {
	return (("" + e).split(".")[1] || "").length;
}
function nn(e, t, n, r) {
	let i = [], a = r.map(tn);
	for (let o = t; o < n; o++) {
		let t = B(o), n = W(Pt(e, o), t);
		for (let s = 0; s < r.length; s++) {
			let c = e == 10 ? +`${r[s]}e${o}` : r[s] * n, l = (o >= 0 ? 0 : t) + (o >= a[s] ? 0 : a[s]), u = e == 10 ? c : W(c, l);
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
function G(e) {
	let t = arguments;
	for (let n = 1; n < t.length; n++) {
		let r = t[n];
		for (let t in r) t != mn && (dn(e[t]) ? G(e[t], hn(r[t])) : e[t] = hn(r[t]));
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
	let a = Nt(1, At((i - r + 1) / t));
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
], Rn = nn(10, -32, 0, Ln), zn = nn(10, 0, 32, Ln), Bn = zn.filter(In), Vn = Rn.concat(zn), K = "\n", q = "{YYYY}", Hn = K + q, Un = "{M}/{D}", Wn = K + Un, Gn = Wn + "/{YY}", Kn = "{aa}", qn = "{h}:{mm}" + Kn, Jn = K + qn, Yn = ":{ss}", J = null;
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
			q,
			J,
			J,
			J,
			J,
			J,
			J,
			1
		],
		[
			i * 28,
			"{MMM}",
			Hn,
			J,
			J,
			J,
			J,
			J,
			1
		],
		[
			i,
			Un,
			Hn,
			J,
			J,
			J,
			J,
			J,
			1
		],
		[
			r,
			"{h}" + Kn,
			Gn,
			J,
			Wn,
			J,
			J,
			J,
			1
		],
		[
			n,
			qn,
			Gn,
			J,
			Wn,
			J,
			J,
			J,
			1
		],
		[
			t,
			Yn,
			Gn + " " + qn,
			J,
			Wn + " " + qn,
			J,
			Jn,
			J,
			1
		],
		[
			e,
			Yn + ".{fff}",
			Gn + " " + qn,
			J,
			Wn + " " + qn,
			J,
			Jn,
			J,
			1
		]
	];
	function l(t) {
		return (s, c, l, u, d, f) => {
			let p = [], m = d >= o, h = d >= a && d < o, g = t(l), _ = W(g * e, 3), v = or(g.getFullYear(), m ? 0 : g.getMonth(), h || m ? 1 : g.getDate()), y = W(v * e, 3);
			if (h || m) {
				let n = h ? d / a : 0, r = m ? d / o : 0, i = _ == y ? _ : W(or(v.getFullYear() + r, v.getMonth() + n, 1) * e, 3), s = new Date(V(i / e)), c = s.getFullYear(), l = s.getMonth();
				for (let a = 0; i <= u; a++) {
					let o = or(c + r * a, l + n * a, 1), s = o - t(W(o * e, 3));
					i = W((+o + s) * e, 3), i <= u && p.push(i);
				}
			} else {
				let a = d >= i ? i : d, o = y + (At(l) - At(_)) + Qt(_ - y, a);
				p.push(o);
				let m = t(o), h = m.getHours() + m.getMinutes() / n + m.getSeconds() / r, g = d / r, v = f / s.axes[c]._space;
				for (; o = W(o + d, e == 1 ? 0 : 3), !(o > u);) if (g > 1) {
					let e = At(W(h + g, 6)) % 24, n = t(o).getHours() - e;
					n > 1 && (n = -1), o -= n * r, h = (h + g) % 24;
					let i = p[p.length - 1];
					W((o - i) / d, 3) * v >= .7 && p.push(o);
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
	I(r, De, i), I(r, Oe, i);
	let a = i / -2;
	I(r, "marginLeft", a), I(r, "marginTop", a);
	let o = n.width(e, t, i);
	return o && I(r, "borderWidth", o), r;
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
}, Cr = G({}, Sr, { filter: Gt }), wr = G({}, Cr, { size: 10 }), Tr = G({}, Sr, { show: !1 }), Er = "12px system-ui, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", Arial, \"Noto Sans\", sans-serif, \"Apple Color Emoji\", \"Segoe UI Emoji\", \"Segoe UI Symbol\", \"Noto Color Emoji\"", Dr = "bold " + Er, Or = 1.5, kr = {
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
	min: H,
	max: -Infinity,
	idxs: []
};
function Nr(e, t, n, r, i) {
	return t.map((e) => e == null ? "" : Dt(e));
}
function Pr(e, t, n, r, i, a, o) {
	let s = [], c = en.get(i) || 0;
	n = o ? n : W(Qt(n, i), c);
	for (let e = n; e <= r; e = W(e + i, c)) s.push(Object.is(e, -0) ? 0 : e);
	return s;
}
function Fr(e, t, n, r, i, a, o) {
	let s = [], c = e.scales[e.axes[t].scale].log;
	i = Pt(c, At((c == 10 ? It : Lt)(n))), c == 10 && (i = Vn[ft(i, Vn)]);
	let l = n, u = i * c;
	c == 10 && (u = Vn[ft(u, Vn)]);
	do
		s.push(l), l += i, c == 10 && !en.has(l) && (l = W(l, en.get(i))), l >= u && (i = l, u = i * c, c == 10 && (u = Vn[ft(u, Vn)]));
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
		let e = B(c(1, o) - u);
		if (e < l) return Vr(t.slice().reverse(), s.distr, d, jt(l / e)).reverse();
	}
	return Vr(t, s.distr, d, 1);
}
function Ur(e, t, n, r, i) {
	let a = e.axes[n], o = a.scale, s = a._space, c = e.valToPos, l = B(c(1, o) - c(2, o));
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
	return W((3 + (e || 1) * 2) * t, 3);
}
function qr(e, t) {
	let { scale: n, idxs: r } = e.series[0], i = e._data[0], a = e.valToPos(i[r[0]], n, !0), o = B(e.valToPos(i[r[1]], n, !0) - a) / (e.series[t].points.space * F);
	return r[1] - r[0] <= o;
}
var Jr = {
	scale: null,
	auto: !0,
	sorted: 0,
	min: H,
	max: -Infinity
}, Yr = (e, t, n, r, i) => i, Xr = {
	show: !0,
	auto: !0,
	sorted: 0,
	gaps: Yr,
	alpha: 1,
	facets: [G({}, Jr, { scale: "x" }), G({}, Jr, { scale: "y" })]
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
	min: H,
	max: -Infinity,
	idxs: [],
	path: null,
	clip: null
};
function Qr(e, t, n, r, i) {
	return n / 10;
}
var $r = {
	time: oe,
	auto: !0,
	distr: 1,
	log: 10,
	asinh: 1,
	min: null,
	max: null,
	dir: 1,
	ori: 0
}, ei = G({}, $r, {
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
	return u.ori == 0 ? n(i, c, l, u, d, g, _, f, p, m, h, mi, gi, vi, bi, Y) : n(i, c, l, u, d, _, g, p, f, h, m, hi, _i, yi, xi, X);
}
function oi(e, t) {
	let n = 0, r = 0, i = z(e.bands, an);
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
	return e == 0 ? Wt : e == 1 ? V : (t) => Zt(t, e);
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
}, Y = (e, t, n, r, i, a, o) => {
	e.bezierCurveTo(t, n, r, i, a, o);
}, X = (e, t, n, r, i, a, o) => {
	e.bezierCurveTo(n, t, i, r, o, a);
};
function Si(e) {
	return (e, t, n, r, i) => ai(e, t, (t, a, o, s, c, l, u, d, f, p, m) => {
		let { pxRound: h, points: g } = t, _, v;
		s.ori == 0 ? (_ = mi, v = bi) : (_ = hi, v = xi);
		let y = W(g.width * F, 3), b = (g.size - g.width) / 2 * F, x = W(b * 2, 3), S = new Path2D(), C = new Path2D(), { left: w, top: T, width: E, height: D } = e.bbox;
		vi(C, w - x, T - x, E + x * 2, D + x * 2);
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
function Ci(e) {
	return (t, n, r, i, a, o) => {
		r != i && (a != r && o != r && e(t, n, r), a != i && o != i && e(t, n, i), e(t, n, o));
	};
}
var wi = Ci(gi), Ti = Ci(_i);
function Z(e) {
	let t = z(e?.alignGaps, 0);
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
	let t = z(e.align, 1), n = z(e.ascDesc, !1), r = z(e.alignGaps, 0), i = z(e.extend, !1);
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
		let j = ee;
		i && t == 1 && (j = b + x, w(E, j, O));
		let [te, ne] = oi(e, a);
		if (c.fill != null || te != 0) {
			let t = T.fill = new Path2D(E), n = C(c.fillTo(e, a, c.min, c.max, te));
			w(t, j, n), w(t, A, n);
		}
		if (!c.spanGaps) {
			let i = [];
			i.push(...di(l, u, o, s, D, S, r));
			let f = c.width * F / 2, p = n || t == 1 ? f : -f, m = n || t == -1 ? -f : f;
			i.forEach((e) => {
				e[0] += p, e[1] += m;
			}), T.gaps = i = c.gaps(e, a, o, s, i), T.clip = li(i, d.ori, h, g, _, v);
		}
		return ne != 0 && (T.band = ne == 2 ? [ci(e, a, o, s, E, -1), ci(e, a, o, s, E, 1)] : ci(e, a, o, s, E, ne)), T;
	});
}
function Di(e, t, n, r, i, a, o = H) {
	if (e.length > 1) {
		let s = null;
		for (let c = 0, l = Infinity; c < e.length; c++) if (t[c] !== void 0) {
			if (s != null) {
				let t = B(e[c] - e[s]);
				t < l && (l = t, o = B(n(e[c], r, i, a) - n(e[s], r, i, a)));
			}
			s = c;
		}
	}
	return o;
}
function Oi(e) {
	e ||= rn;
	let t = z(e.size, [
		.6,
		H,
		1
	]), n = e.align || 0, r = e.gap || 0, i = e.radius;
	i = i == null ? [0, 0] : typeof i == "number" ? [i, 0] : i;
	let a = U(i), o = 1 - t[0], s = z(t[1], H), c = z(t[2], 1), l = z(e.disp, rn), u = z(e.each, (e) => {}), { fill: d, stroke: f } = l;
	return (e, t, i, p) => ai(e, t, (m, h, g, _, v, y, b, x, S, C, w) => {
		let T = m.pxRound, E = n, D = r * F, O = s * F, k = c * F, ee, A;
		_.ori == 0 ? [ee, A] = a(e, t) : [A, ee] = a(e, t);
		let j = _.dir * (_.ori == 0 ? 1 : -1), te = _.ori == 0 ? vi : yi, ne = _.ori == 0 ? u : (e, t, n, r, i, a, o) => {
			u(e, t, n, i, r, o, a);
		}, re = z(e.bands, an).find((e) => e.series[0] == t), ie = re == null ? 0 : re.dir, ae = m.fillTo(e, t, m.min, m.max, ie), M = T(b(ae, v, w, S)), N, P, oe, se = C, ce = T(m.width * F), le = !1, ue = null, de = null, fe = null, pe = null;
		d != null && (ce == 0 || f != null) && (le = !0, ue = d.values(e, t, i, p), de = /* @__PURE__ */ new Map(), new Set(ue).forEach((e) => {
			e != null && de.set(e, new Path2D());
		}), ce > 0 && (fe = f.values(e, t, i, p), pe = /* @__PURE__ */ new Map(), new Set(fe).forEach((e) => {
			e != null && pe.set(e, new Path2D());
		})));
		let { x0: me, size: he } = l;
		if (me != null && he != null) {
			E = 1, h = me.values(e, t, i, p), me.unit == 2 && (h = h.map((t) => e.posToVal(x + t * C, _.key, !0)));
			let n = he.values(e, t, i, p);
			P = he.unit == 2 ? n[0] * C : y(n[0], _, C, x) - y(0, _, C, x), se = Di(h, g, y, _, C, x, se), oe = se - P + D;
		} else se = Di(h, g, y, _, C, x, se), oe = se * o + D, P = se - oe;
		oe < 1 && (oe = 0), ce >= P / 2 && (ce = 0), oe < 5 && (T = Wt);
		let ge = oe > 0, _e = se - oe - (ge ? ce : 0);
		P = T(Vt(_e, k, O)), N = (E == 0 ? P / 2 : E == j ? 0 : P) - E * j * ((E == 0 ? D / 2 : 0) + (ge ? ce / 2 : 0));
		let ve = {
			stroke: null,
			fill: null,
			clip: null,
			band: null,
			gaps: null,
			flags: 0
		}, ye = le ? null : new Path2D(), be = null;
		if (re != null) be = e.data[re.series[1]];
		else {
			let { y0: n, y1: r } = l;
			n != null && r != null && (g = r.values(e, t, i, p), be = n.values(e, t, i, p));
		}
		let xe = ee * P, Se = A * P;
		for (let n = j == 1 ? i : p; n >= i && n <= p; n += j) {
			let r = g[n];
			if (r == null) continue;
			if (be != null) {
				let e = be[n] ?? 0;
				if (r - e == 0) continue;
				M = b(e, v, w, S);
			}
			let i = y(_.distr != 2 || l != null ? h[n] : n, _, C, x), a = b(z(r, ae), v, w, S), o = T(i - N), s = T(Nt(a, M)), c = T(Mt(a, M)), u = s - c;
			if (r != null) {
				let i = r < 0 ? Se : xe, a = r < 0 ? xe : Se;
				le ? (ce > 0 && fe[n] != null && te(pe.get(fe[n]), o, c + At(ce / 2), P, Nt(0, u - ce), i, a), ue[n] != null && te(de.get(ue[n]), o, c + At(ce / 2), P, Nt(0, u - ce), i, a)) : te(ye, o, c + At(ce / 2), P, Nt(0, u - ce), i, a), ne(e, t, n, o - ce / 2, c, P + ce, u);
			}
		}
		return ce > 0 ? ve.stroke = le ? pe : ye : le || (ve._fill = m.width == 0 ? m._fill : m._stroke ?? m._fill, ve.width = 0), ve.fill = le ? de : ye, ve;
	});
}
function ki(e, t) {
	let n = z(t?.alignGaps, 0);
	return (t, r, i, a) => ai(t, r, (o, s, c, l, u, d, f, p, m, h, g) => {
		[i, a] = gt(c, i, a);
		let _ = o.pxRound, v = (e) => _(d(e, l, h, p)), y = (e) => _(f(e, u, g, m)), b, x, S;
		l.ori == 0 ? (b = mi, S = gi, x = Y) : (b = hi, S = _i, x = X);
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
	Q.pxRatio = F;
}));
var Pi = Z(), Fi = Si();
function Ii(e, t, n, r) {
	return (r ? [e[0], e[1]].concat(e.slice(2)) : [e[0]].concat(e.slice(1))).map((e, r) => Ri(e, r, t, n));
}
function Li(e, t) {
	return e.map((e, n) => n == 0 ? {} : G({}, t, e));
}
function Ri(e, t, n, r) {
	return G({}, t == 0 ? n : r, e);
}
function zi(e, t, n) {
	return t == null ? on : [t, n];
}
var Bi = zi;
function Vi(e, t, n) {
	return t == null ? on : Ct(t, n, xt, !0);
}
function Hi(e, t, n, r) {
	return t == null ? on : yt(t, n, e.scales[r].log, !1);
}
var Ui = Hi;
function Wi(e, t, n, r) {
	return t == null ? on : bt(t, n, e.scales[r].log, !1);
}
var Gi = Wi;
function Ki(e, t, n, r, i) {
	let a = Nt(Bt(e), Bt(t)), o = t - e, s = ft(i / r * o, n);
	do {
		let e = n[s], t = r * e / o;
		if (t >= i && a + (e < 5 ? en.get(e) : 0) <= 17) return [e, t];
	} while (++s < n.length);
	return [0, 0];
}
function qi(e) {
	let t, n;
	return e = e.replace(/(\d+)px/, (e, r) => (t = V((n = +r) * F)) + "px"), [
		e,
		t,
		n
	];
}
function Ji(e) {
	e.show && [e.font, e.labelFont].forEach((e) => {
		let t = W(e[2] * F, 1);
		e[0] = e[0].replace(/[0-9.]+px/, t + "px"), e[1] = t;
	});
}
function Q(e, t, n) {
	let r = { mode: z(e.mode, 1) }, i = r.mode;
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
		e.target === m && (Y != vi || X != yi) && Ci.click(r, e);
	}, !0);
	let p = r.under = tt(fe, f);
	f.appendChild(u);
	let m = r.over = tt(pe, f);
	e = hn(e);
	let h = +z(e.pxAlign, 1), g = fi(h);
	(e.plugins || []).forEach((t) => {
		t.opts && (e = t.opts(r, e) || e);
	});
	let _ = e.ms || .001, v = r.series = i == 1 ? Ii(e.series || [], Mr, Zr, !1) : Li(e.series || [null], Xr), y = r.axes = Ii(e.axes || [], kr, Gr, !0), b = r.scales = {}, x = r.bands = e.bands || [];
	x.forEach((e) => {
		e.fill = U(e.fill || null), e.dir = z(e.dir, -1);
	});
	let S = i == 2 ? v[1].facets[0].scale : v[0].scale, C = {
		axes: Vr,
		series: Sr
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
				let e = G({}, b[r.from], r, { key: t });
				e.valToPct = T(e), b[t] = e;
			} else {
				n = b[t] = G({}, t == S ? $r : ei, r), n.key = t;
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
					a = (t, n, r) => n == null ? on : Ct(n, r, e);
				}
				n.range = U(a || (e ? Bi : t == S ? n.distr == 3 ? Ui : n.distr == 4 ? Gi : zi : n.distr == 3 ? Hi : n.distr == 4 ? Wi : Vi)), n.auto = U(!o && n.auto), n.clamp = U(n.clamp || Qr), n._min = n._max = null, n.valToPct = T(n);
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
	let j = e.tzDate || ((e) => new Date(V(e / _))), te = e.fmtDate || Nn, ne = _ == 1 ? $n(j) : nr(j), re = ir(j, rr(_ == 1 ? Qn : tr, te)), ie = lr(j, sr(cr, te)), ae = [], M = r.legend = G({}, fr, e.legend), N = r.cursor = G({}, xr, { drag: { y: i == 2 } }, e.cursor), P = M.show, oe = N.show, Ne = M.markers;
	M.idxs = ae, Ne.width = U(Ne.width), Ne.dash = U(Ne.dash), Ne.stroke = U(Ne.stroke), Ne.fill = U(Ne.fill);
	let Ve, He, Ue, Ke = [], Ye = [], Xe, Ze = !1, nt = {};
	if (M.live) {
		let e = v[1] ? v[1].values : null;
		Ze = e != null, Xe = Ze ? e(r, 1, 0) : { _: 0 };
		for (let e in Xe) nt[e] = Ge;
	}
	if (P) {
		if (Ve = et("table", be, l), Ue = et("tbody", null, Ve), M.mount(r, Ve), Ze) {
			He = et("thead", null, Ve, Ue);
			let e = et("tr", null, He);
			for (var it in et("th", null, e), Xe) et("th", Te, e).textContent = it;
		} else Qe(Ve, Se), M.live && Qe(Ve, xe);
	}
	let ot = { show: !0 }, ct = { show: !1 };
	function lt(e, t) {
		if (t == 0 && (Ze || !M.live || i == 2)) return on;
		let n = [], a = et("tr", Ce, Ue, Ue.childNodes[t]);
		Qe(a, e.class), e.show || Qe(a, he);
		let o = et("th", null, a);
		if (Ne.show) {
			let e = tt(we, o);
			if (t > 0) {
				let n = Ne.width(r, t);
				n && (e.style.border = n + "px " + Ne.dash(r, t) + " " + Ne.stroke(r, t)), e.style.background = Ne.fill(r, t);
			}
		}
		let s = tt(Te, o);
		for (var c in e.label instanceof HTMLElement ? s.appendChild(e.label) : s.textContent = e.label, t > 0 && (Ne.show || (s.style.color = e.width > 0 ? Ne.stroke(r, t) : Ne.fill(r, t)), mt("click", o, (t) => {
			if (N._lock) return;
			bn(t);
			let n = v.indexOf(e);
			if ((t.ctrlKey || t.metaKey) != M.isolate) {
				let e = v.some((e, t) => t > 0 && t != n && e.show);
				v.forEach((t, r) => {
					r > 0 && Ai(r, e ? r == n ? ot : ct : ot, !0, $.setSeries);
				});
			} else Ai(n, { show: !e.show }, !0, $.setSeries);
		}, !1), wn && mt(Re, o, (t) => {
			N._lock || (bn(t), Ai(v.indexOf(e), $i, !0, $.setSeries));
		}, !1)), Xe) {
			let e = et("td", Ee, a);
			e.textContent = "--", n.push(e);
		}
		return [a, n];
	}
	let pt = /* @__PURE__ */ new Map();
	function mt(e, t, n, i = !0) {
		let a = pt.get(t) || {}, o = N.bind[e](r, t, n, i);
		o && (ut(e, t, a[e] = o), pt.set(t, a));
	}
	function ht(e, t, n) {
		let r = pt.get(t) || {};
		for (let n in r) (e == null || n == e) && (dt(n, t, r[n]), delete r[n]);
		e ?? pt.delete(t);
	}
	let gt = 0, _t = 0, L = 0, R = 0, Tt = 0, Et = 0, Dt = Tt, Ot = Et, At = L, Ft = R, Lt = 0, Bt = 0, Ut = 0, Wt = 0;
	r.bbox = {};
	let Yt = !1, Xt = !1, Qt = !1, $t = !1, nn = !1, cn = !1;
	function pn(e, t, n) {
		(n || e != r.width || t != r.height) && mn(e, t), qr(!1), Qt = !0, Xt = !0, oi();
	}
	function mn(e, t) {
		r.width = gt = L = e, r.height = _t = R = t, Tt = Et = 0, vn(), yn();
		let n = r.bbox;
		Lt = n.left = Zt(Tt * F, .5), Bt = n.top = Zt(Et * F, .5), Ut = n.width = Zt(L * F, .5), Wt = n.height = Zt(R * F, .5);
	}
	function gn() {
		let e = !1, t = 0;
		for (; !e;) {
			t++;
			let n = zr(t), i = Br(t);
			e = t == 3 || n && i, e || (mn(r.width, r.height), Xt = !0);
		}
	}
	function _n({ width: e, height: t }) {
		pn(e, t);
	}
	r.setSize = _n;
	function vn() {
		let e = !1, t = !1, n = !1, r = !1;
		y.forEach((i, a) => {
			if (i.show && i._show) {
				let { side: a, _size: o } = i, s = a % 2, c = o + (i.label == null ? 0 : i.labelSize);
				c > 0 && (s ? (L -= c, a == 3 ? (Tt += c, r = !0) : n = !0) : (R -= c, a == 0 ? (Et += c, e = !0) : t = !0));
			}
		}), Pn[0] = e, Pn[1] = n, Pn[2] = t, Pn[3] = r, L -= Rn[1] + Rn[3], Tt += Rn[3], R -= Rn[2] + Rn[0], Et += Rn[0];
	}
	function yn() {
		let e = Tt + L, t = Et + R, n = Tt, r = Et;
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
	if (N.dataIdx == null) {
		let e = N.hover, n = e.skip = new Set(e.skip ?? []);
		n.add(void 0);
		let r = e.prox = U(e.prox), i = e.bias ??= 0;
		N.dataIdx = (e, a, o, s) => {
			if (a == 0) return o;
			let c = o, l = r(e, a, o, s) ?? H, u = l >= 0 && l < H, d = D.ori == 0 ? L : R, f = N.left, p = t[0], m = t[a];
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
			} else u && B(f - k(p[o], D, d, 0)) > l && (c = null);
			return c;
		};
	}
	let bn = (e) => {
		N.event = e;
	};
	N.idxs = ae, N._lock = !1;
	let Sn = N.points;
	Sn.show = U(Sn.show), Sn.size = U(Sn.size), Sn.stroke = U(Sn.stroke), Sn.width = U(Sn.width), Sn.fill = U(Sn.fill);
	let Cn = r.focus = G({}, e.focus || { alpha: .3 }, N.focus), wn = Cn.prox >= 0, Tn = wn && Sn.one, En = [], Dn = [], On = [];
	function kn(e, t) {
		let n = Sn.show(r, t);
		if (n instanceof HTMLElement) return Qe(n, ye), Qe(n, e.class), rt(n, -10, -10, L, R), m.insertBefore(n, En[t]), n;
	}
	function An(e, t) {
		if (i == 1 || t > 0) {
			let t = i == 1 && b[e.scale].time, n = e.value;
			e.value = t ? un(n) ? lr(j, sr(n, te)) : n || ie : n || Wr, e.label = e.label || (t ? jr : Ar);
		}
		if (Tn || t > 0) {
			e.width = e.width == null ? 1 : e.width, e.paths = e.paths || Pi || Kt, e.fillTo = U(e.fillTo || si), e.pxAlign = +z(e.pxAlign, h), e.pxRound = fi(e.pxAlign), e.stroke = U(e.stroke || null), e.fill = U(e.fill || null), e._stroke = e._fill = e._paths = e._focus = null;
			let t = Kr(Nt(1, e.width), 1), n = e.points = G({}, {
				size: t,
				width: Nt(1, t * .2),
				stroke: e.stroke,
				space: t * 2,
				paths: Fi,
				_stroke: null,
				_fill: null
			}, e.points);
			n.show = U(n.show), n.filter = U(n.filter), n.fill = U(n.fill), n.stroke = U(n.stroke), n.paths = U(n.paths), n.pxAlign = e.pxAlign;
		}
		if (P) {
			let n = lt(e, t);
			Ke.splice(t, 0, n[0]), Ye.splice(t, 0, n[1]), M.values.push(null);
		}
		if (oe) {
			ae.splice(t, 0, null);
			let n = null;
			Tn ? t == 0 && (n = kn(e, t)) : t > 0 && (n = kn(e, t)), En.splice(t, 0, n), Dn.splice(t, 0, 0), On.splice(t, 0, 0);
		}
		Oa("addSeries", t);
	}
	function jn(e, t) {
		t ??= v.length, e = i == 1 ? Ri(e, t, Mr, Zr) : Ri(e, t, {}, Xr), v.splice(t, 0, e), An(v[t], t);
	}
	r.addSeries = jn;
	function Mn(e) {
		if (v.splice(e, 1), P) {
			M.values.splice(e, 1), Ye.splice(e, 1);
			let t = Ke.splice(e, 1)[0];
			ht(null, t.firstChild), t.remove();
		}
		oe && (ae.splice(e, 1), En.splice(e, 1)[0].remove(), Dn.splice(e, 1), On.splice(e, 1)), Oa("delSeries", e);
	}
	r.delSeries = Mn;
	let Pn = [
		!1,
		!1,
		!1,
		!1
	];
	function Fn(e, t) {
		if (e._show = e.show, e.show) {
			let n = e.side % 2, i = b[e.scale];
			i ??= (e.scale = n ? v[1].scale : S, b[e.scale]);
			let a = i.time;
			e.size = U(e.size), e.space = U(e.space), e.rotate = U(e.rotate), sn(e.incrs) && e.incrs.forEach((e) => {
				!en.has(e) && en.set(e, tn(e));
			}), e.incrs = U(e.incrs || (i.distr == 2 ? Bn : a ? _ == 1 ? Zn : er : Vn)), e.splits = U(e.splits || (a && i.distr == 1 ? ne : i.distr == 3 ? Fr : i.distr == 4 ? Ir : Pr)), e.stroke = U(e.stroke), e.grid.stroke = U(e.grid.stroke), e.ticks.stroke = U(e.ticks.stroke), e.border.stroke = U(e.border.stroke);
			let o = e.values;
			e.values = sn(o) && !sn(o[0]) ? U(o) : a ? sn(o) ? ir(j, rr(o, te)) : un(o) ? ar(j, o) : o || re : o || Nr, e.filter = U(e.filter || (i.distr >= 3 && i.log == 10 ? Hr : i.distr == 3 && i.log == 2 ? Ur : Gt)), e.font = qi(e.font), e.labelFont = qi(e.labelFont), e._size = e.size(r, null, t, 0), e._space = e._rotate = e._incrs = e._found = e._splits = e._values = null, e._size > 0 && (Pn[t] = !0, e._el = tt(me, f));
		}
	}
	function In(e, t, n, r) {
		let [i, a, o, s] = n, c = t % 2, l = 0;
		return c == 0 && (s || a) && (l = t == 0 && !i || t == 2 && !o ? V(kr.size / 3) : 0), c == 1 && (i || o) && (l = t == 1 && !a || t == 3 && !s ? V(Gr.size / 2) : 0), l;
	}
	let Ln = r.padding = (e.padding || [
		In,
		In,
		In,
		In
	]).map((e) => U(z(e, In))), Rn = r._padding = Ln.map((e, t) => e(r, t, Pn, 0)), zn, K = null, q = null, Hn = i == 1 ? v[0].idxs : null, Un = null, Wn = !1;
	function Gn(e, n) {
		if (t = e ?? [], r.data = r._data = t, i == 2) {
			zn = 0;
			for (let e = 1; e < v.length; e++) zn += t[e][0].length;
		} else {
			t.length == 0 && (r.data = r._data = t = [[]]), Un = t[0], zn = Un.length;
			let e = t;
			if (O == 2) {
				e = t.slice();
				let n = e[0] = Array(zn);
				for (let e = 0; e < zn; e++) n[e] = e;
			}
			r._data = t = e;
		}
		if (qr(!0), Oa("setData"), O == 2 && (Qt = !0), n !== !1) {
			let e = D;
			e.auto(r, Wn) ? Kn() : ki(S, e.min, e.max), $t ||= N.left >= 0, cn = !0, oi();
		}
	}
	r.setData = Gn;
	function Kn() {
		Wn = !0;
		let e, n;
		i == 1 && (zn > 0 ? (K = Hn[0] = 0, q = Hn[1] = zn - 1, e = t[0][K], n = t[0][q], O == 2 ? (e = K, n = q) : e == n && (O == 3 ? [e, n] = yt(e, e, D.log, !1) : O == 4 ? [e, n] = bt(e, e, D.log, !1) : D.time ? n = e + V(86400 / _) : [e, n] = Ct(e, n, xt, !0))) : (K = Hn[0] = e = null, q = Hn[1] = n = null)), ki(S, e, n);
	}
	let qn, Jn, Yn, J, Xn, or, ur, dr, pr, mr;
	function hr(e, t, n, r, i, a) {
		e ??= Pe, n ??= an, r ??= "butt", i ??= Pe, a ??= "round", e != qn && (d.strokeStyle = qn = e), i != Jn && (d.fillStyle = Jn = i), t != Yn && (d.lineWidth = Yn = t), a != Xn && (d.lineJoin = Xn = a), r != or && (d.lineCap = or = r), n != J && d.setLineDash(J = n);
	}
	function gr(e, t, n, r) {
		t != Jn && (d.fillStyle = Jn = t), e != ur && (d.font = ur = e), n != dr && (d.textAlign = dr = n), r != pr && (d.textBaseline = pr = r);
	}
	function _r(e, t, n, i, a = 0) {
		if (i.length > 0 && e.auto(r, Wn) && (t == null || t.min == null)) {
			let t = z(K, 0), r = z(q, i.length - 1), o = n.min == null ? vt(i, t, r, a, e.distr == 3) : [n.min, n.max];
			e.min = Mt(e.min, n.min = o[0]), e.max = Nt(e.max, n.max = o[1]);
		}
	}
	let vr = {
		min: null,
		max: null
	};
	function yr() {
		for (let e in b) {
			let t = b[e];
			A[e] == null && (t.min == null || A[S] != null && t.auto(r, Wn)) && (A[e] = vr);
		}
		for (let e in b) {
			let t = b[e];
			A[e] == null && t.from != null && A[t.from] != null && (A[e] = vr);
		}
		A[S] != null && qr(!0);
		let e = {};
		for (let t in A) {
			let n = A[t];
			if (n != null) {
				let a = e[t] = hn(b[t], fn);
				if (n.min != null) G(a, n);
				else if (t != S || i == 2) {
					if (zn == 0 && a.from == null) {
						let e = a.range(r, null, null, t);
						a.min = e[0], a.max = e[1];
					} else a.min = H, a.max = -Infinity;
				}
			}
		}
		if (zn > 0) {
			v.forEach((n, a) => {
				if (i == 1) {
					let i = n.scale, o = A[i];
					if (o == null) return;
					let s = e[i];
					if (a == 0) {
						let e = s.range(r, s.min, s.max, i);
						s.min = e[0], s.max = e[1], K = ft(s.min, t[0]), q = ft(s.max, t[0]), q - K > 1 && (t[0][K] < s.min && K++, t[0][q] > s.max && q--), n.min = Un[K], n.max = Un[q];
					} else n.show && n.auto && _r(s, o, n, t[a], n.sorted);
					n.idxs[0] = K, n.idxs[1] = q;
				} else if (a > 0 && n.show && n.auto) {
					let [r, i] = n.facets, o = r.scale, s = i.scale, [c, l] = t[a], u = e[o], d = e[s];
					u != null && _r(u, A[o], r, c, r.sorted), d != null && _r(d, A[s], i, l, i.sorted), n.min = i.min, n.max = i.max;
				}
			});
			for (let t in e) {
				let n = e[t], i = A[t];
				if (n.from == null && (i == null || i.min == null)) {
					let e = n.range(r, n.min == H ? null : n.min, n.max == -Infinity ? null : n.max, t);
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
			for (let e in n) Qt = !0, Oa("setScale", e);
			oe && N.left >= 0 && ($t = cn = !0);
		}
		for (let e in A) A[e] = null;
	}
	function br(e) {
		let t = Vt(K - 1, 0, zn - 1), n = Vt(q + 1, 0, zn - 1);
		for (; e[t] == null && t > 0;) t--;
		for (; e[n] == null && n < zn - 1;) n++;
		return [t, n];
	}
	function Sr() {
		if (zn > 0) {
			let e = v.some((e) => e._focus) && mr != Cn.alpha;
			e && (d.globalAlpha = mr = Cn.alpha), v.forEach((e, n) => {
				if (n > 0 && e.show && (Cr(n, !1), Cr(n, !0), e._paths == null)) {
					let a = mr;
					mr != e.alpha && (d.globalAlpha = mr = e.alpha);
					let o = i == 2 ? [0, t[n][0].length - 1] : br(t[n]);
					e._paths = e.paths(r, n, o[0], o[1]), mr != a && (d.globalAlpha = mr = a);
				}
			}), v.forEach((e, t) => {
				if (t > 0 && e.show) {
					let n = mr;
					mr != e.alpha && (d.globalAlpha = mr = e.alpha), e._paths != null && wr(t, !1);
					{
						let n = e._paths == null ? null : e._paths.gaps, i = e.points.show(r, t, K, q, n), a = e.points.filter(r, t, i, n);
						(i || a) && (e.points._paths = e.points.paths(r, t, K, q, a), wr(t, !0));
					}
					mr != n && (d.globalAlpha = mr = n), Oa("drawSeries", t);
				}
			}), e && (d.globalAlpha = mr = 1);
		}
	}
	function Cr(e, t) {
		let n = t ? v[e].points : v[e];
		n._stroke = n.stroke(r, e), n._fill = n.fill(r, e);
	}
	function wr(e, t) {
		let n = t ? v[e].points : v[e], { stroke: r, fill: i, clip: a, flags: o, _stroke: s = n._stroke, _fill: c = n._fill, _width: l = n.width } = n._paths;
		l = W(l * F, 3);
		let u = null, f = l % 2 / 2;
		t && c == null && (c = l > 0 ? "#fff" : s);
		let p = n.pxAlign == 1 && f > 0;
		if (p && d.translate(f, f), !t) {
			let e = Lt - l / 2, t = Bt - l / 2, n = Ut + l, r = Wt + l;
			u = new Path2D(), u.rect(e, t, n, r);
		}
		t ? Er(s, l, n.dash, n.cap, c, r, i, o, a) : Tr(e, s, l, n.dash, n.cap, c, r, i, o, u, a), p && d.translate(-f, -f);
	}
	function Tr(e, n, i, a, o, s, c, l, u, d, f) {
		let p = !1;
		u != 0 && x.forEach((m, h) => {
			if (m.series[0] == e) {
				let e = v[m.series[1]], g = t[m.series[1]], _ = (e._paths || rn).band;
				sn(_) && (_ = m.dir == 1 ? _[0] : _[1]);
				let y, b = null;
				e.show && _ && wt(g, K, q) ? (b = m.fill(r, h) || s, y = e._paths.clip) : _ = null, Er(n, i, a, o, b, c, l, u, d, f, y, _), p = !0;
			}
		}), p || Er(n, i, a, o, s, c, l, u, d, f);
	}
	function Er(e, t, n, r, i, a, o, s, c, l, u, f) {
		hr(e, t, n, r, i), (c || l || f) && (d.save(), c && d.clip(c), l && d.clip(l)), f ? (s & 3) == 3 ? (d.clip(f), u && d.clip(u), Or(i, o), Dr(e, a, t)) : s & ii ? (Or(i, o), d.clip(f), Dr(e, a, t)) : s & ri && (d.save(), d.clip(f), u && d.clip(u), Or(i, o), d.restore(), Dr(e, a, t)) : (Or(i, o), Dr(e, a, t)), (c || l || f) && d.restore();
	}
	function Dr(e, t, n) {
		n > 0 && (t instanceof Map ? t.forEach((e, t) => {
			d.strokeStyle = qn = t, d.stroke(e);
		}) : t != null && e && d.stroke(t));
	}
	function Or(e, t) {
		t instanceof Map ? t.forEach((e, t) => {
			d.fillStyle = Jn = t, d.fill(e);
		}) : t != null && e && d.fill(t);
	}
	function Lr(e, t, n, i) {
		let a = y[e], o;
		if (i <= 0) o = [0, 0];
		else {
			let s = a._space = a.space(r, e, t, n, i);
			o = Ki(t, n, a._incrs = a.incrs(r, e, t, n, i, s), i, s);
		}
		return a._found = o;
	}
	function Rr(e, t, n, r, i, a, o, s, c, l) {
		let u = o % 2 / 2;
		h == 1 && d.translate(u, u), hr(s, o, c, l, s), d.beginPath();
		let f, p, m, g, _ = i + (r == 0 || r == 3 ? -a : a);
		n == 0 ? (p = i, g = _) : (f = i, m = _);
		for (let r = 0; r < e.length; r++) t[r] != null && (n == 0 ? f = m = e[r] : p = g = e[r], d.moveTo(f, p), d.lineTo(m, g));
		d.stroke(), h == 1 && d.translate(-u, -u);
	}
	function zr(e) {
		let t = !0;
		return y.forEach((n, i) => {
			if (!n.show) return;
			let a = b[n.scale];
			if (a.min == null) {
				n._show && (t = !1, n._show = !1, qr(!1));
				return;
			}
			n._show || (t = !1, n._show = !0, qr(!1));
			let o = n.side, s = o % 2, { min: c, max: l } = a, [u, d] = Lr(i, c, l, s == 0 ? L : R);
			if (d == 0) return;
			let f = a.distr == 2, p = n._splits = n.splits(r, i, c, l, u, d, f), m = a.distr == 2 ? p.map((e) => Un[e]) : p, h = a.distr == 2 ? Un[p[1]] - Un[p[0]] : u, g = n._values = n.values(r, n.filter(r, m, i, d, h), i, d, h);
			n._rotate = o == 2 ? n.rotate(r, g, i, d) : 0;
			let _ = n._size;
			n._size = jt(n.size(r, g, i, e)), _ != null && n._size != _ && (t = !1);
		}), t;
	}
	function Br(e) {
		let t = !0;
		return Ln.forEach((n, i) => {
			let a = n(r, i, Pn, e);
			a != Rn[i] && (t = !1), Rn[i] = a;
		}), t;
	}
	function Vr() {
		for (let e = 0; e < y.length; e++) {
			let t = y[e];
			if (!t.show || !t._show) continue;
			let n = t.side, i = n % 2, a, o, c = t.stroke(r, e), l = n == 0 || n == 3 ? -1 : 1, [u, f] = t._found;
			if (t.label != null) {
				let s = t.labelGap * l, p = V((t._lpos + s) * F);
				gr(t.labelFont[0], c, "center", n == 2 ? ke : Ae), d.save(), i == 1 ? (a = o = 0, d.translate(p, V(Bt + Wt / 2)), d.rotate((n == 3 ? -kt : kt) / 2)) : (a = V(Lt + Ut / 2), o = p);
				let m = Ht(t.label) ? t.label(r, e, u, f) : t.label;
				d.fillText(m, a, o), d.restore();
			}
			if (f == 0) continue;
			let p = b[t.scale], m = i == 0 ? Ut : Wt, h = i == 0 ? Lt : Bt, _ = t._splits, v = p.distr == 2 ? _.map((e) => Un[e]) : _, x = p.distr == 2 ? Un[_[1]] - Un[_[0]] : u, S = t.ticks, C = t.border, w = S.show ? S.size : 0, T = V(w * F), E = V((t.alignTo == 2 ? t._size - w - t.gap : t.gap) * F), D = t._rotate * -kt / 180, O = g(t._pos * F), k = O + (T + E) * l;
			o = i == 0 ? k : 0, a = i == 1 ? k : 0;
			let ee = t.font[0];
			gr(ee, c, t.align == 1 ? je : t.align == 2 ? Me : D > 0 ? je : D < 0 ? Me : i == 0 ? "center" : n == 3 ? Me : je, D || i == 1 ? "middle" : n == 2 ? ke : Ae);
			let A = t.font[1] * t.lineGap, j = _.map((e) => g(s(e, p, m, h))), te = t._values;
			for (let e = 0; e < te.length; e++) {
				let t = te[e];
				if (t != null) {
					i == 0 ? a = j[e] : o = j[e], t = "" + t;
					let n = t.indexOf("\n") == -1 ? [t] : t.split(/\n/gm);
					for (let e = 0; e < n.length; e++) {
						let t = n[e];
						D ? (d.save(), d.translate(a, o + e * A), d.rotate(D), d.fillText(t, 0, 0), d.restore()) : d.fillText(t, a, o + e * A);
					}
				}
			}
			S.show && Rr(j, S.filter(r, v, e, f, x), i, n, O, T, W(S.width * F, 3), S.stroke(r, e), S.dash, S.cap);
			let ne = t.grid;
			ne.show && Rr(j, ne.filter(r, v, e, f, x), i, i == 0 ? 2 : 1, i == 0 ? Bt : Lt, i == 0 ? Wt : Ut, W(ne.width * F, 3), ne.stroke(r, e), ne.dash, ne.cap), C.show && Rr([O], [1], +(i == 0), i == 0 ? 1 : 2, i == 1 ? Bt : Lt, i == 1 ? Wt : Ut, W(C.width * F, 3), C.stroke(r, e), C.dash, C.cap);
		}
		Oa("drawAxes");
	}
	function qr(e) {
		v.forEach((t, n) => {
			n > 0 && (t._paths = null, e && (i == 1 ? (t.min = null, t.max = null) : t.facets.forEach((e) => {
				e.min = null, e.max = null;
			})));
		});
	}
	let Jr = !1, Yr = !1, ti = [];
	function ai() {
		Yr = !1;
		for (let e = 0; e < ti.length; e++) Oa(...ti[e]);
		ti.length = 0;
	}
	function oi() {
		Jr ||= (xn(li), !0);
	}
	function ci(e, t = !1) {
		Jr = !0, Yr = t, e(r), li(), t && ti.length > 0 && queueMicrotask(ai);
	}
	r.batch = ci;
	function li() {
		if (Yt &&= (yr(), !1), Qt &&= (gn(), !1), Xt) {
			if (I(p, je, Tt), I(p, ke, Et), I(p, De, L), I(p, Oe, R), I(m, je, Tt), I(m, ke, Et), I(m, De, L), I(m, Oe, R), I(f, De, gt), I(f, Oe, _t), u.width = V(gt * F), u.height = V(_t * F), y.forEach(({ _el: e, _show: t, _size: n, _pos: r, side: i }) => {
				if (e != null) {
					if (t) {
						let t = i === 3 || i === 0 ? n : 0, a = i % 2 == 1;
						I(e, a ? "left" : "top", r - t), I(e, a ? "width" : "height", n), I(e, a ? "top" : "left", a ? Et : Tt), I(e, a ? "height" : "width", a ? R : L), $e(e, he);
					} else Qe(e, he);
				}
			}), qn = Jn = Yn = Xn = or = ur = dr = pr = J = null, mr = 1, fa(!0), Tt != Dt || Et != Ot || L != At || R != Ft) {
				qr(!1);
				let e = L / At, t = R / Ft;
				if (oe && !$t && N.left >= 0) {
					N.left *= e, N.top *= t, mi && rt(mi, V(N.left), 0, L, R), hi && rt(hi, 0, V(N.top), L, R);
					for (let n = 0; n < En.length; n++) {
						let r = En[n];
						r != null && (Dn[n] *= e, On[n] *= t, rt(r, jt(Dn[n]), jt(On[n]), L, R));
					}
				}
				if (Z.show && !nn && Z.left >= 0 && Z.width > 0) {
					Z.left *= e, Z.width *= e, Z.top *= t, Z.height *= t;
					for (let e in ha) I(Ei, e, Z[e]);
				}
				Dt = Tt, Ot = Et, At = L, Ft = R;
			}
			Oa("setSize"), Xt = !1;
		}
		gt > 0 && _t > 0 && (d.clearRect(0, 0, u.width, u.height), Oa("drawClear"), w.forEach((e) => e()), Oa("draw")), Z.show && nn && (Di(Z), nn = !1), oe && $t && (ua(null, !0, !1), $t = !1), M.show && M.live && cn && (ca(), cn = !1), c || (c = !0, r.status = 1, Oa("ready")), Wn = !1, Jr = !1;
	}
	r.redraw = (e, t) => {
		Qt = t || !1, e === !1 ? oi() : ki(S, D.min, D.max);
	};
	function ui(e, n) {
		let i = b[e];
		if (i.from == null) {
			if (zn == 0) {
				let t = i.range(r, n.min, n.max, e);
				n.min = t[0], n.max = t[1];
			}
			if (n.min > n.max) {
				let e = n.min;
				n.min = n.max, n.max = e;
			}
			if (zn > 1 && n.min != null && n.max != null && n.max - n.min < 1e-16) return;
			e == S && i.distr == 2 && zn > 0 && (n.min = ft(n.min, t[0]), n.max = ft(n.max, t[0]), n.min == n.max && n.max++), A[e] = n, Yt = !0, oi();
		}
	}
	r.setScale = ui;
	let di, pi, mi, hi, gi, _i, vi, yi, bi, xi, Y, X, Si = !1, Ci = N.drag, wi = Ci.x, Ti = Ci.y;
	oe && (N.x && (di = tt(_e, m)), N.y && (pi = tt(ve, m)), D.ori == 0 ? (mi = di, hi = pi) : (mi = pi, hi = di), Y = N.left, X = N.top);
	let Z = r.select = G({
		show: !0,
		over: !0,
		left: 0,
		width: 0,
		top: 0,
		height: 0
	}, e.select), Ei = Z.show ? tt(ge, Z.over ? m : p) : null;
	function Di(e, t) {
		if (Z.show) {
			for (let t in e) Z[t] = e[t], t in ha && I(Ei, t, e[t]);
			t !== !1 && Oa("setSelect");
		}
	}
	r.setSelect = Di;
	function Oi(e) {
		if (v[e].show) P && $e(Ke[e], he);
		else if (P && Qe(Ke[e], he), oe) {
			let t = Tn ? En[0] : En[e];
			t != null && rt(t, -10, -10, L, R);
		}
	}
	function ki(e, t, n) {
		ui(e, {
			min: t,
			max: n
		});
	}
	function Ai(e, t, n, a) {
		t.focus != null && ea(e), t.show != null && v.forEach((n, r) => {
			r > 0 && (e == r || e == null) && (n.show = t.show, Oi(r), i == 2 ? (ki(n.facets[0].scale, null, null), ki(n.facets[1].scale, null, null)) : ki(n.scale, null, null), oi());
		}), n !== !1 && Oa("setSeries", e, t), a && Ma("setSeries", r, e, t);
	}
	r.setSeries = Ai;
	function ji(e, t) {
		G(x[e], t);
	}
	function Ni(e, t) {
		e.fill = U(e.fill || null), e.dir = z(e.dir, -1), t ??= x.length, x.splice(t, 0, e);
	}
	function Q(e) {
		e == null ? x.length = 0 : x.splice(e, 1);
	}
	r.addBand = Ni, r.setBand = ji, r.delBand = Q;
	function Yi(e, t) {
		v[e].alpha = t, oe && En[e] != null && (En[e].style.opacity = t), P && Ke[e] && (Ke[e].style.opacity = t);
	}
	let Xi, Zi, Qi, $i = { focus: !0 };
	function ea(e) {
		if (e != Qi) {
			let t = e == null, n = Cn.alpha != 1;
			v.forEach((r, a) => {
				if (i == 1 || a > 0) {
					let i = t || a == 0 || a == e;
					r._focus = t ? null : i, n && Yi(a, i ? 1 : Cn.alpha);
				}
			}), Qi = e, n && oi();
		}
	}
	P && wn && mt(ze, Ve, (e) => {
		N._lock || (bn(e), Qi != null && Ai(null, $i, !0, $.setSeries));
	});
	function ta(e, t, n) {
		let r = b[t];
		n && (e = e / F - (r.ori == 1 ? Et : Tt));
		let i = L;
		r.ori == 1 && (i = R, e = i - e), r.dir == -1 && (e = i - e);
		let a = r._min, o = r._max, s = e / i, c = a + (o - a) * s, l = r.distr;
		return l == 3 ? Pt(10, c) : l == 4 ? Rt(c, r.asinh) : l == 100 ? r.bwd(c) : c;
	}
	function na(e, n) {
		return ft(ta(e, S, n), t[0], K, q);
	}
	r.valToIdx = (e) => ft(e, t[0]), r.posToIdx = na, r.posToVal = ta, r.valToPos = (e, t, n) => b[t].ori == 0 ? a(e, b[t], n ? Ut : L, n ? Lt : 0) : o(e, b[t], n ? Wt : R, n ? Bt : 0), r.setCursor = (e, t, n) => {
		Y = e.left, X = e.top, ua(null, t, n);
	};
	function ra(e, t) {
		I(Ei, je, Z.left = e), I(Ei, De, Z.width = t);
	}
	function ia(e, t) {
		I(Ei, ke, Z.top = e), I(Ei, Oe, Z.height = t);
	}
	let aa = D.ori == 0 ? ra : ia, oa = D.ori == 1 ? ra : ia;
	function sa() {
		if (P && M.live) for (let e = +(i == 2); e < v.length; e++) {
			if (e == 0 && Ze) continue;
			let t = M.values[e], n = 0;
			for (let r in t) Ye[e][n++].firstChild.nodeValue = t[r];
		}
	}
	function ca(e, t) {
		if (e != null && (e.idxs ? e.idxs.forEach((e, t) => {
			ae[t] = e;
		}) : ln(e.idx) || ae.fill(e.idx), M.idx = ae[0]), P && M.live) {
			for (let e = 0; e < v.length; e++) (e > 0 || i == 1 && !Ze) && la(e, ae[e]);
			sa();
		}
		cn = !1, t !== !1 && Oa("setLegend");
	}
	r.setLegend = ca;
	function la(e, n) {
		let i = v[e], a = e == 0 && O == 2 ? Un : t[e], o;
		Ze ? o = i.values(r, e, n) ?? nt : (o = i.value(r, n == null ? null : a[n], e, n), o = o == null ? nt : { _: o }), M.values[e] = o;
	}
	function ua(e, n, a) {
		bi = Y, xi = X, [Y, X] = N.move(r, Y, X), N.left = Y, N.top = X, oe && (mi && rt(mi, V(Y), 0, L, R), hi && rt(hi, 0, V(X), L, R));
		let o, s = K > q;
		Xi = H, Zi = null;
		let c = D.ori == 0 ? L : R, l = D.ori == 1 ? L : R;
		if (Y < 0 || zn == 0 || s) {
			o = N.idx = null;
			for (let e = 0; e < v.length; e++) {
				let t = En[e];
				t != null && rt(t, -10, -10, L, R);
			}
			wn && Ai(null, $i, !0, e == null && $.setSeries), M.live && (ae.fill(o), cn = !0);
		} else {
			let e, n, a;
			i == 1 && (e = D.ori == 0 ? Y : X, n = ta(e, S), o = N.idx = ft(n, t[0], K, q), a = k(t[0][o], D, c, 0));
			let s = -10, u = -10, d = 0, f = 0, p = !0, m = "", h = "";
			for (let e = +(i == 2); e < v.length; e++) {
				let g = v[e], _ = ae[e], y = _ == null ? null : i == 1 ? t[e][_] : t[e][1][_], x = N.dataIdx(r, e, o, n), S = x == null ? null : i == 1 ? t[e][x] : t[e][1][x];
				if (cn = cn || S != y || x != _, ae[e] = x, e > 0 && g.show) {
					let n = x == null ? -10 : x == o ? a : k(i == 1 ? t[0][x] : t[e][0][x], D, c, 0), _ = S == null ? -10 : ee(S, i == 1 ? b[g.scale] : b[g.facets[1].scale], l, 0);
					if (wn && S != null) {
						let t = D.ori == 1 ? Y : X, n = B(Cn.dist(r, e, x, _, t));
						if (n < Xi) {
							let r = Cn.bias;
							if (r != 0) {
								let i = ta(t, g.scale), a = S >= 0 ? 1 : -1, o = i >= 0 ? 1 : -1;
								o == a && (o == 1 ? r == 1 ? S >= i : S <= i : r == 1 ? S <= i : S >= i) && (Xi = n, Zi = e);
							} else Xi = n, Zi = e;
						}
					}
					if (cn || Tn) {
						let t, i;
						D.ori == 0 ? (t = n, i = _) : (t = _, i = n);
						let a, o, c, l, g, v, y = !0, b = Sn.bbox;
						if (b != null) {
							y = !1;
							let t = b(r, e);
							c = t.left, l = t.top, a = t.width, o = t.height;
						} else c = t, l = i, a = o = Sn.size(r, e);
						if (v = Sn.fill(r, e), g = Sn.stroke(r, e), Tn) e == Zi && Xi <= Cn.prox && (s = c, u = l, d = a, f = o, p = y, m = v, h = g);
						else {
							let t = En[e];
							t != null && (Dn[e] = c, On[e] = l, st(t, a, o, y), at(t, v, g), rt(t, jt(c), jt(l), L, R));
						}
					}
				}
			}
			if (Tn) {
				let e = Cn.prox;
				if (cn || (Qi == null ? Xi <= e : Xi > e || Zi != Qi)) {
					let e = En[0];
					e != null && (Dn[0] = s, On[0] = u, st(e, d, f, p), at(e, m, h), rt(e, jt(s), jt(u), L, R));
				}
			}
		}
		if (Z.show && Si) {
			if (e != null) {
				let [t, n] = $.scales, [r, i] = $.match, [a, o] = e.cursor.sync.scales, s = e.cursor.drag;
				if (wi = s._x, Ti = s._y, wi || Ti) {
					let { left: s, top: u, width: d, height: f } = e.select, p = e.scales[a].ori, m = e.posToVal, h, g, _, v, y, x = t != null && r(t, a), S = n != null && i(n, o);
					x && wi ? (p == 0 ? (h = s, g = d) : (h = u, g = f), _ = b[t], v = k(m(h, a), _, c, 0), y = k(m(h + g, a), _, c, 0), aa(Mt(v, y), B(y - v))) : aa(0, c), S && Ti ? (p == 1 ? (h = s, g = d) : (h = u, g = f), _ = b[n], v = ee(m(h, o), _, l, 0), y = ee(m(h + g, o), _, l, 0), oa(Mt(v, y), B(y - v))) : oa(0, l);
				} else ga();
			} else {
				let e = B(bi - gi), t = B(xi - _i);
				if (D.ori == 1) {
					let n = e;
					e = t, t = n;
				}
				wi = Ci.x && e >= Ci.dist, Ti = Ci.y && t >= Ci.dist;
				let n = Ci.uni;
				n == null ? Ci.x && Ci.y && (wi || Ti) && (wi = Ti = !0) : wi && Ti && (wi = e >= n, Ti = t >= n, !wi && !Ti && (t > e ? Ti = !0 : wi = !0));
				let r, i;
				wi && (D.ori == 0 ? (r = vi, i = Y) : (r = yi, i = X), aa(Mt(r, i), B(i - r)), Ti || oa(0, l)), Ti && (D.ori == 1 ? (r = vi, i = Y) : (r = yi, i = X), oa(Mt(r, i), B(i - r)), wi || aa(0, c)), !wi && !Ti && (aa(0, 0), oa(0, 0));
			}
		}
		if (Ci._x = wi, Ci._y = Ti, e == null) {
			if (a) {
				if (Aa != null) {
					let [e, t] = $.scales;
					$.values[0] = e == null ? null : ta(D.ori == 0 ? Y : X, e), $.values[1] = t == null ? null : ta(D.ori == 1 ? Y : X, t);
				}
				Ma(Fe, r, Y, X, L, R, o);
			}
			if (wn) {
				let e = a && $.setSeries, t = Cn.prox;
				Qi == null ? Xi <= t && Ai(Zi, $i, !0, e) : Xi > t ? Ai(null, $i, !0, e) : Zi != Qi && Ai(Zi, $i, !0, e);
			}
		}
		cn && (M.idx = o, ca()), n !== !1 && Oa("setCursor");
	}
	let da = null;
	Object.defineProperty(r, "rect", { get() {
		return da ?? fa(!1), da;
	} });
	function fa(e = !1) {
		e ? da = null : (da = m.getBoundingClientRect(), Oa("syncRect", da));
	}
	function pa(e, t, n, r, i, a, o) {
		N._lock || Si && e != null && e.movementX == 0 && e.movementY == 0 || (ma(e, t, n, r, i, a, o, !1, e != null), e == null ? ua(t, !0, !1) : ua(null, !0, !0));
	}
	function ma(e, t, n, i, a, o, c, l, u) {
		if (da ?? fa(!1), bn(e), e != null) n = e.clientX - da.left, i = e.clientY - da.top;
		else {
			if (n < 0 || i < 0) {
				Y = -10, X = -10;
				return;
			}
			let [e, r] = $.scales, c = t.cursor.sync, [l, u] = c.values, [d, f] = c.scales, [p, m] = $.match, h = t.axes[0].side % 2 == 1, g = D.ori == 0 ? L : R, _ = D.ori == 1 ? L : R, v = h ? o : a, y = h ? a : o, x = h ? i : n, S = h ? n : i;
			if (n = d == null ? x / v * g : p(e, d) ? s(l, b[e], g, 0) : -10, i = f == null ? S / y * _ : m(r, f) ? s(u, b[r], _, 0) : -10, D.ori == 1) {
				let e = n;
				n = i, i = e;
			}
		}
		u && (t == null || t.cursor.event.type == Fe) && ((n <= 1 || n >= L - 1) && (n = Zt(n, L)), (i <= 1 || i >= R - 1) && (i = Zt(i, R))), l ? (gi = n, _i = i, [vi, yi] = N.move(r, n, i)) : (Y = n, X = i);
	}
	let ha = {
		width: 0,
		height: 0,
		left: 0,
		top: 0
	};
	function ga() {
		Di(ha, !1);
	}
	let _a, va, ya, ba;
	function xa(e, t, n, i, a, o, s) {
		Si = !0, wi = Ti = Ci._x = Ci._y = !1, ma(e, t, n, i, a, o, s, !0, !1), e != null && (mt(Le, qe, Sa, !1), Ma(Ie, r, vi, yi, L, R, null));
		let { left: c, top: l, width: u, height: d } = Z;
		_a = c, va = l, ya = u, ba = d;
	}
	function Sa(e, t, n, i, a, o, s) {
		Si = Ci._x = Ci._y = !1, ma(e, t, n, i, a, o, s, !1, !0);
		let { left: c, top: l, width: u, height: d } = Z, f = u > 0 || d > 0, p = _a != c || va != l || ya != u || ba != d;
		if (f && p && Di(Z), Ci.setScale && f && p) {
			let e = c, t = u, n = l, r = d;
			if (D.ori == 1 && (e = l, t = d, n = c, r = u), wi && ki(S, ta(e, S), ta(e + t, S)), Ti) for (let e in b) {
				let t = b[e];
				e != S && t.from == null && t.min != H && ki(e, ta(n + r, e), ta(n, e));
			}
			ga();
		} else N.lock && (N._lock = !N._lock, ua(t, !0, e != null));
		e != null && (ht(Le, qe), Ma(Le, r, Y, X, L, R, null));
	}
	function Ca(e, t, n, r, i, a, o) {
		if (N._lock) return;
		bn(e);
		let s = Si;
		if (Si) {
			let e = !0, t = !0, n, r;
			D.ori == 0 ? (n = wi, r = Ti) : (n = Ti, r = wi), n && r && (e = Y <= 10 || Y >= L - 10, t = X <= 10 || X >= R - 10), n && e && (Y = Y < vi ? 0 : L), r && t && (X = X < yi ? 0 : R), ua(null, !0, !0), Si = !1;
		}
		Y = -10, X = -10, ae.fill(null), ua(null, !0, !0), s && (Si = s);
	}
	function wa(e, t, n, i, a, o, s) {
		N._lock || (bn(e), Kn(), ga(), e != null && Ma(Be, r, Y, X, L, R, null));
	}
	function Ta() {
		y.forEach(Ji), pn(r.width, r.height, !0);
	}
	ut(We, Je, Ta);
	let Ea = {};
	Ea.mousedown = xa, Ea.mousemove = pa, Ea.mouseup = Sa, Ea.dblclick = wa, Ea.setSeries = (e, t, n, i) => {
		let a = $.match[2];
		n = a(r, t, n), n != -1 && Ai(n, i, !0, !1);
	}, oe && (mt(Ie, m, xa), mt(Fe, m, pa), mt(Re, m, (e) => {
		bn(e), fa(!1);
	}), mt(ze, m, Ca), mt(Be, m, wa), Mi.add(r), r.syncRect = fa);
	let Da = r.hooks = e.hooks || {};
	function Oa(e, t, n) {
		Yr ? ti.push([
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
	let ka = (e, t, n) => n, $ = G({
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
	}, N.sync);
	$.match.length == 2 && $.match.push(ka), N.sync = $;
	let Aa = $.key, ja = ni(Aa);
	function Ma(e, t, n, r, i, a, o) {
		$.filters.pub(e, t, n, r, i, a, o) && ja.pub(e, t, n, r, i, a, o);
	}
	ja.sub(r);
	function Na(e, t, n, r, i, a, o) {
		$.filters.sub(e, t, n, r, i, a, o) && Ea[e](null, t, n, r, i, a, o);
	}
	r.pub = Na;
	function Pa() {
		ja.unsub(r), Mi.delete(r), pt.clear(), dt(We, Je, Ta), l.remove(), Ve?.remove(), Oa("destroy");
	}
	r.destroy = Pa;
	function Fa() {
		Oa("init", e, t), Gn(t || e.data, !1), A[S] ? ui(S, A[S]) : Kn(), nn = Z.show && (Z.width > 0 || Z.height > 0), $t = cn = !0, pn(e.width, e.height);
	}
	return v.forEach(An), y.forEach(Fn), n ? n instanceof HTMLElement ? (n.appendChild(l), Fa()) : n(r, Fa) : Fa(), r;
}
Q.assign = G, Q.fmtNum = Dt, Q.rangeNum = Ct, Q.rangeLog = yt, Q.rangeAsinh = bt, Q.orient = ai, Q.pxRatio = F, Q.join = bn, Q.fmtDate = Nn, Q.tzDate = Fn, Q.sync = ni;
{
	Q.addGap = ui, Q.clipGaps = li;
	let e = Q.paths = { points: Si };
	e.linear = Z, e.stepped = Ei, e.bars = Oi, e.spline = Ai;
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
	}[e], n = t ? Q.paths.stepped({ align: t }) : Q.paths.linear();
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
	let s = t(n, r.xs), c = i.axes[n.x], l = i.rows[r.row + 1]?.[r.column], u = l?.x !== n.x && c.label !== "", p = n.part, m = p && o.appendChild(ba("button")), h = ({ min: e, max: t }) => e === c.reach[0] && t === c.reach[1], g = s.map(ha), _ = s.some((e) => e.kind === "bars"), v = new Q({
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
				fill: (e, t) => t ? `var(${s[t - 1].colour})` : "transparent"
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
	}, g.some(([e]) => e.length) ? Q.join(g) : ya(c.reach, s.length), e);
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
function ka(t, n, r, i = []) {
	let a = n.xs.map(e), o = `chart${Oa += 1}`, s = [], c = !1;
	t.classList.add("drawn"), t.dataset.name = n.name;
	let l = n.rows.flat(), u = l.some((e) => e.part || e.rows_of);
	if (t.setAttribute("role", u ? "group" : "img"), t.setAttribute("aria-label", n.title), n.note) {
		let e = t.appendChild(document.createElement("p"));
		e.className = "note", e.textContent = n.note;
	}
	n.key.length && T(t, n.key), l[0]?.rows_of && l[0].y.low !== void 0 && _(t, l[0].y);
	function d(e, t) {
		if (c) return;
		c = !0;
		let { min: n, max: r } = e.scales.x;
		for (let i of s) i.plot !== e && i.axis === t && i.plot.setScale("x", {
			min: n,
			max: r
		});
		c = !1;
	}
	for (let [e, i] of n.rows.entries()) {
		let c = t.appendChild(document.createElement("div"));
		c.className = "row", c.style.gridTemplateColumns = n.widths.map((e) => `minmax(0, ${e}fr)`).join(" ");
		for (let [t, l] of i.entries()) {
			let i = c.appendChild(document.createElement("div"));
			if (l.rows_of) {
				m(i, l, n.axes[l.x], a);
				continue;
			}
			let u = {
				chart: n,
				xs: a,
				row: e,
				column: t,
				group: `${o}-${l.x}`,
				colour: r,
				moved: d
			};
			s.push({
				plot: _a(i, l, u),
				box: i,
				panel: l,
				axis: l.x
			});
		}
	}
	return i.length === s.length && s.forEach(({ plot: e }, t) => Aa(e, i[t])), {
		view: () => s.map(({ plot: e, axis: t }) => $(e, n.axes[t].reach)),
		fit: () => {
			for (let { plot: e, box: t } of s) t.clientWidth && t.clientWidth !== e.width && e.setSize({
				width: t.clientWidth,
				height: e.height
			});
		},
		show: (e, t) => {
			for (let { plot: n } of s) n.series.forEach((r, i) => {
				i > 0 && r.label === e && r.show !== t && n.setSeries(i, { show: t });
			});
		},
		repaint: () => s.forEach(({ plot: e }) => e.redraw(!1)),
		picture: () => k(t, n, s, r),
		csv: () => ne(n, a),
		destroy: () => s.forEach(({ plot: e }) => e.destroy())
	};
}
function $({ scales: e, series: t, cursor: n }, [r, i]) {
	let { min: a, max: o } = e.x;
	return {
		zoom: a === r && o === i ? null : [a, o],
		hidden: t.slice(1).flatMap((e) => e.show ? [] : [String(e.label)]),
		cursor: n.left !== void 0 && n.left >= 0 ? [n.left, n.top] : null
	};
}
function Aa(e, { zoom: t, hidden: n, cursor: r }) {
	t && e.setScale("x", {
		min: t[0],
		max: t[1]
	}), e.series.forEach((t, r) => {
		r > 0 && n.includes(String(t.label)) && e.setSeries(r, { show: !1 });
	}), r && e.setCursor({
		left: r[0],
		top: r[1]
	}, !1);
}
// src/charts/saving.ts
function ja(e, t) {
	let n = document.createElement("span");
	n.className = "hint";
	let r = t.rows.flat().some((e) => !e.rows_of);
	return n.append(`${r ? " Drag to zoom, double-click to zoom out." : ""} Save as `, Ma("PNG", t, () => e()?.picture().toBlob((e) => e && P(`${t.name}.png`, e))), " or ", Ma("CSV", t, () => {
		let n = e()?.csv();
		n && P(`${t.name}.csv`, new Blob([n], { type: "text/csv" }));
	}), "."), n;
}
function Ma(e, t, n) {
	let r = document.createElement("button");
	return r.type = "button", r.textContent = e, r.setAttribute("aria-label", `${e} of ${t.title}`), r.addEventListener("click", n), r;
}
// src/notebook/main.ts
function Na() {
	let { body: e, documentElement: t } = document, n = e.dataset.jpThemeLight;
	if (n !== void 0) return n === "false";
	if (/\bvscode-(dark|light)\b/.test(e.className)) return e.classList.contains("vscode-dark");
	let r = t.getAttribute("theme");
	return r ? r === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
function Pa({ model: e, el: t }) {
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
			let o = ka(a, t, r);
			e.appendChild(document.createElement("figcaption")).append(`${t.title}.`, ja(() => o, t)), i.push(o);
		}
	}
	function s() {
		n.classList.toggle("dark", Na()), i.forEach((e) => e.repaint());
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
var Fa = { render: Pa };
export { Fa as default };
