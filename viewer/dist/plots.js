// Curves of the last seconds, on small canvases, with their newest values as text.
const specs = [
    { title: "Energy", unit: "J", series: [
            { name: "kinetic", value: (s) => s.energy.kinetic }, { name: "elastic", value: (s) => s.energy.elastic },
            { name: "potential", value: (s) => s.energy.potential }, { name: "total", value: (s) => s.energy.kinetic + s.energy.elastic + s.energy.potential }
        ] },
    { title: "Momentum", unit: "", series: [{ name: "|P|", value: (s) => s.momentum.linear }, { name: "|L|", value: (s) => s.momentum.angular }] },
    { title: "Momentum since the start, relative", unit: "", series: [{ name: "of P", value: (s) => s.drift.linear }, { name: "of L", value: (s) => s.drift.angular }] },
    { title: "Time per step", unit: "ms", series: (s) => Object.keys(s.stages).map((name) => ({ name, value: (status) => status.stages[name] ?? 0 })) },
    { title: "Error against full space", unit: "%", when: (s) => s.compares, series: [
            { name: "error", value: (s) => s.error ? 100 * s.error.last : NaN }, { name: "largest", value: (s) => s.error ? 100 * s.error.max : NaN }
        ] },
    { title: "Contacts", unit: "", series: [{ name: "contacts", value: (s) => s.contacts }] },
    { title: "Iterations", unit: "", series: [{ name: "Newton", value: (s) => s.iterations }, { name: "impulses", value: (s) => s.sweeps }] },
];
const colors = ["--mark", "--second", "--third", "--soft", "--bad"];
export function short(x) {
    if (x === 0)
        return "0";
    if (Number.isNaN(x))
        return "–";
    const size = Math.abs(x);
    return size >= 1e5 || size < 1e-3 ? x.toExponential(1) : String(Number(x.toPrecision(3)));
}
class Plot {
    spec;
    #canvas = document.createElement("canvas");
    #caption = document.createElement("figcaption");
    #figure = document.createElement("figure");
    constructor(spec, parent) {
        this.spec = spec;
        this.#figure.className = "plot";
        this.#canvas.setAttribute("role", "img");
        this.#figure.append(this.#caption, this.#canvas);
        parent.append(this.#figure);
    }
    draw(history) {
        const last = history[history.length - 1];
        this.#figure.hidden = !last || !(this.spec.when?.(last) ?? true);
        if (!last || this.#figure.hidden)
            return;
        const series = typeof this.spec.series === "function" ? this.spec.series(last) : this.spec.series;
        const style = getComputedStyle(document.documentElement);
        const tints = series.map((_, k) => style.getPropertyValue(colors[k % colors.length]).trim());
        this.#drawCaption(series, last, tints);
        const { clientWidth: width, clientHeight: height } = this.#canvas;
        if (width === 0)
            return;
        this.#canvas.width = width * devicePixelRatio;
        this.#canvas.height = height * devicePixelRatio;
        const pen = this.#canvas.getContext("2d");
        pen.scale(devicePixelRatio, devicePixelRatio);
        const columns = series.map((each) => history.map((status) => each.value(status)));
        const all = columns.flat().filter(Number.isFinite);
        const low = Math.min(0, ...all), high = Math.max(...all, low + 1e-12);
        const x = (k) => 4 + (width - 8) * k / Math.max(history.length - 1, 1), y = (v) => 5 + (height - 10) * (high - v) / (high - low);
        pen.strokeStyle = style.getPropertyValue("--edge");
        pen.beginPath();
        pen.moveTo(0, y(0));
        pen.lineTo(width, y(0));
        pen.stroke();
        pen.lineWidth = 1.5;
        columns.forEach((column, k) => {
            pen.strokeStyle = tints[k];
            pen.beginPath();
            column.forEach((value, i) => Number.isFinite(column[i - 1]) ? pen.lineTo(x(i), y(value)) : pen.moveTo(x(i), y(value)));
            pen.stroke();
        });
        const top = `${short(high)} ${this.spec.unit}`;
        pen.font = "10px system-ui";
        pen.fillStyle = style.getPropertyValue("--field");
        pen.fillRect(2, 2, pen.measureText(top).width + 6, 13);
        pen.fillStyle = style.getPropertyValue("--soft");
        pen.fillText(top, 5, 12);
    }
    #drawCaption(series, last, tints) {
        const title = document.createElement("strong");
        title.textContent = this.spec.title;
        const values = series.map((each, k) => {
            const entry = document.createElement("span"), dot = document.createElement("i");
            dot.style.background = tints[k];
            entry.dataset.series = each.name;
            entry.dataset.value = String(each.value(last));
            entry.append(dot, `${each.name} ${short(each.value(last))}`);
            return entry;
        });
        this.#caption.replaceChildren(title, ...values);
        this.#canvas.setAttribute("aria-label", `${this.spec.title}: ${series.map((each) => `${each.name} ${short(each.value(last))} ${this.spec.unit}`).join(", ")}`);
    }
}
/** All plots; they show the last `most` messages. */
export class Plots {
    most;
    #plots;
    #history = [];
    #due = 0;
    constructor(parent, most = 300) {
        this.most = most;
        this.#plots = specs.map((spec) => new Plot(spec, parent));
    }
    add(status) {
        const last = this.#history[this.#history.length - 1];
        if (last && (status.t < last.t || status.scene !== last.scene))
            this.#history = [];
        if (last && status.t === last.t && this.#history.length > 0)
            this.#history.pop();
        this.#history.push(status);
        if (this.#history.length > this.most)
            this.#history.shift();
        if (performance.now() < this.#due)
            return;
        this.#due = performance.now() + 150;
        this.draw();
    }
    draw() { for (const plot of this.#plots)
        plot.draw(this.#history); }
}
