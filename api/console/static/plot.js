// Charts of tables: what `macro chart` writes is drawn, and the table stays for screen readers and behind a summary.

const COLOURS = { fired: "--accent", gathered: "--soft", held: "--warn" };

const DAY = 86_400;

let uPlot;

/** Draw a table with `data-plot` in place of it: the first column is the time, each other one a series. */
export async function draw(figure) {
  uPlot ??= (await import(figure.dataset.uplot)).default;
  const table = figure.querySelector("table");
  const heads = [...table.tHead.rows[0].cells].slice(1);
  const rows = [...table.tBodies[0].rows];
  const data = [
    rows.map((row) => Date.parse(row.querySelector("time").dateTime) / 1000),
    ...heads.map((_head, column) => rows.map((row) => Number(row.cells[column + 1].dataset.value))),
  ];
  const place = figure.querySelector("[data-place]");
  const make = () => new uPlot(options(place, heads, data), stacked(data), place);
  let plot = make();
  const again = () => { plot.destroy(); plot = make(); };
  new ResizeObserver(() => { if (place.clientWidth !== plot.width) plot.setSize({ width: place.clientWidth, height: plot.height }); }).observe(place);
  new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
}

/** Heights of the series on top of each other, so that the upper line is the whole. */
function stacked([times, ...series]) {
  const sums = [];
  for (const one of series.toReversed()) sums.unshift(one.map((value, place) => value + (sums[0]?.[place] ?? 0)));
  return [times, ...sums];
}

function options(place, heads, data) {
  const style = getComputedStyle(place);
  const colour = (name) => resolved(place, `var(${name})`);
  const language = document.documentElement.lang;
  const moment = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: `12px ${style.fontFamily}` };
  const bars = uPlot.paths.bars({ size: [0.8, 40], gap: 1 });
  const days = data[0].at(-1) - data[0][0] > 3 * DAY;
  const day = new Intl.DateTimeFormat(language, { month: "short", day: "numeric" });
  const hour = new Intl.DateTimeFormat(language, { timeStyle: "short" });
  return {
    width: place.clientWidth, height: 170, padding: [10, 8, 0, 0], cursor: { drag: { setScale: false }, points: { show: false } },
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(high, 1)] } },
    axes: [
      {
        ...axis, size: 26, space: 70, ...(days && { incrs: [DAY, 2 * DAY, 7 * DAY, 28 * DAY] }),
        values: (_plot, splits) => splits.map((one) => (days ? day : hour).format(one * 1000)),
      },
      { ...axis, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6] },
    ],
    series: [
      { label: figureLabel(place), value: (_plot, at) => (at === null ? "–" : moment.format(at * 1000)) },
      ...heads.map((head, column) => ({
        label: head.textContent, width: 0, paths: bars, points: { show: false }, fill: colour(COLOURS[head.dataset.series] ?? "--accent"),
        value: (_plot, _value, _series, index) => (index === null ? "–" : data[column + 1][index].toLocaleString(language)),
      })),
    ],
  };
}

const figureLabel = (place) => place.closest("figure").querySelector("thead th").textContent;

/** A colour as the canvas understands it: it knows neither variables nor `light-dark()`. */
function resolved(place, text) {
  const probe = document.createElement("i");
  probe.style.color = text;
  place.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
