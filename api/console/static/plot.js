// Charts of tables: what `macro chart` writes is drawn, and the table stays for screen readers and behind a summary.

const COLOURS = {
  fired: "--accent", gathered: "--soft", held: "--warn", draft: "--accent", in_force: "--quiet", rest: "--quiet",
  c0: "--c0", c1: "--c1", c2: "--c2", c3: "--c3", c4: "--c4",
};

const DAY = 86_400;

const WHOLE_STEPS = [0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((power) => [1, 2, 5].map((one) => one * 10 ** power));

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
  const beside = "beside" in figure.dataset && heads.length > 1;
  const make = () => new uPlot(options(place, heads, data, beside), beside ? data : stacked(data), place);
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

function options(place, heads, data, beside) {
  const style = getComputedStyle(place);
  const colour = (name) => resolved(place, `var(${name})`);
  const language = document.documentElement.lang;
  const moment = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });
  const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: `12px ${style.fontFamily}` };
  const whole = data.slice(1).every((series) => series.every(Number.isInteger));
  const bars = (column) => uPlot.paths.bars(beside ? { size: [0.4, 20], gap: 1, align: column ? 1 : -1 } : { size: [0.8, 40], gap: 1 });
  const days = data[0].at(-1) - data[0][0] > 3 * DAY;
  const day = new Intl.DateTimeFormat(language, { month: "short", day: "numeric" });
  const hour = new Intl.DateTimeFormat("sv-SE", { timeStyle: "short" });
  return {
    width: place.clientWidth, height: 170, padding: [10, 8, 0, 0], cursor: { drag: { setScale: false }, points: { show: false } },
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(high, whole ? 1 : 1e-6)] } },
    axes: [
      {
        ...axis, size: 26, space: 70, ...(days && { incrs: [DAY, 2 * DAY, 7 * DAY, 28 * DAY] }),
        values: (_plot, splits) => splits.map((one) => (days ? day : hour).format(one * 1000)),
      },
      { ...axis, size: whole ? 52 : 64, ...(whole && { incrs: WHOLE_STEPS }) },
    ],
    series: [
      { label: figureLabel(place), value: (_plot, at) => (at === null ? "–" : moment.format(at * 1000)) },
      ...heads.map((head, column) => ({
        label: head.textContent, width: 0, paths: bars(column), points: { show: false }, fill: colour(COLOURS[head.dataset.series] ?? "--accent"),
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
