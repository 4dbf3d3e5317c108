// Runs in the page. Reads the curves off the screen: where the points of each path lie between the ticks of the axes, in
// pixels of the window, turned back into values. Leaves what it found in the document.
const measured = {};
for (const figure of document.querySelectorAll("figure.plot")) {
  const svg = figure.querySelector("svg[role=img]");
  const data = JSON.parse(document.getElementById("report-data").textContent).plots.find(
    (plot) => plot.title === figure.querySelector("h2").textContent);
  const reader = (axis, coordinate) => {
    const ticks = [...svg.querySelectorAll(".tick." + axis)].map((tick) => [
      Number(tick.dataset.value), tick.getScreenCTM()[coordinate]]);
    const [low, high] = [ticks[0], ticks[ticks.length - 1]];
    const log = data[axis].scale === "log";
    return (pixel) => {
      const share = (pixel - low[1]) / (high[1] - low[1]);
      return log ? low[0] * Math.pow(high[0] / low[0], share) : low[0] + share * (high[0] - low[0]);
    };
  };
  const x = reader("x", "e"), y = reader("y", "f");
  const curves = {};
  for (const path of svg.querySelectorAll("path[data-series]")) {
    const points = [...path.getAttribute("d").matchAll(/[ML]([-\d.]+) ([-\d.]+)/g)];
    curves[path.dataset.series] = points.map((point) => {
      const at = new DOMPoint(point[1], point[2]).matrixTransform(path.getScreenCTM());
      return [x(at.x), y(at.y)];
    });
  }
  const box = svg.getBoundingClientRect();
  measured[data.title] = {curves, width: box.width, height: box.height,
    stroke: getComputedStyle(svg.querySelector("path")).stroke, description: svg.querySelector("desc").textContent};
}
measured.image = [document.images[0].naturalWidth, document.images[0].complete];
measured.gallery = [...document.querySelectorAll(".gallery figure")].map((figure) => [
  figure.innerText, figure.querySelector("img").naturalWidth, figure.getBoundingClientRect().top]);
measured.shares = [...document.querySelectorAll(".shares tr")].map((row) => [
  row.innerText, row.querySelector("i").getBoundingClientRect().width / row.querySelector(".bar").clientWidth]);
measured.dots = document.querySelectorAll(".dots circle").length;
measured.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
measured.facts = [...document.querySelectorAll(".facts div")].map((fact) => fact.innerText);
const result = document.createElement("pre");
result.id = "measured";
result.textContent = JSON.stringify(measured);
document.body.append(result);
