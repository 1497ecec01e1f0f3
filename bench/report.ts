// Results for people: in the terminal, as a table in Markdown, and as a picture of the ratios with their aims.
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { arch, cpus, platform, release, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CleanTree } from "./clean-tree.ts";
import type { Options, Point, Result } from "./result.ts";

const directory = fileURLToPath(new URL("results", import.meta.url));

interface Kept extends Result {
  at: string;
  machine: string;
  command: string;
  commit: string;
}

export function print(result: Result): void {
  const lines: [string, string | number][] = [
    ["rate", `${result.rate_per_s} a second`],
    [result.baseline, `${result.baseline_per_s} a second`],
    ["ratio", `${result.ratio.toFixed(2)} (aim ${result.aim}: ${result.met ? "met" : "MISSED"})`],
    ["latency p50 / p99", `${result.p50_ms} / ${result.p99_ms} ms`],
    ["CPU a request, service + PostgreSQL", result.cpu_us ? `${cpuOf(result)} µs` : NOT_MEASURED],
    ...(result.cpu_aim_us === undefined ? [] : [["CPU of both", cpuAim(result)] as [string, string]]),
    ["memory of the service", result.memory_mib === undefined ? WITHOUT_PROC : `${result.memory_mib} MiB`],
    ["failed requests", result.errors],
    ["verify afterwards", result.verified ? "clean" : "NOT CLEAN"],
    ...Object.entries(result.notes).map(([name, value]): [string, string | number] => [
      name.replaceAll("_", " "),
      value,
    ]),
  ];
  console.log(`\n${nameOf(result)}\n`);
  for (const [name, value] of lines) console.log(`  ${name.padEnd(36)} ${value}`);
  console.log("");
}

const NOT_MEASURED = "not measured";
const WITHOUT_PROC = `${NOT_MEASURED}: there is no /proc`;
const nameOf = ({ case: name, processes }: Result): string => (processes ? `${name}, ${processes} processes` : name);
const fileOf = ({ case: name, processes }: Result): string => (processes ? `${name}-${processes}-processes` : name);

const cpuOf = ({ cpu_us }: Result): string => (cpu_us ? `${cpu_us.service} + ${cpu_us.postgres}` : NOT_MEASURED);

/** The CPU time with its own aim, which is separate from that of the ratio. */
function cpuAim({ cpu_us, cpu_aim_us = Infinity }: Result): string {
  if (!cpu_us) return NOT_MEASURED;
  const both = cpu_us.service + cpu_us.postgres;
  return `${both} µs (aim ${cpu_aim_us}: ${both <= cpu_aim_us ? "met" : "MISSED"})`;
}

/** Cases that fill a book first, so that `--rows` matters. */
const BY_ROWS: ReadonlySet<string> = new Set(["growth", "portal", "retention"]);

/** Stores a result, and draws the table and pictures of all stored results. */
export function keep(result: Result, { seconds, rows, processes }: Options, tree: CleanTree): void {
  mkdirSync(directory, { recursive: true });
  const write = (name: string, text: string): void => tree.write(join("results", name), text);
  const extra = `${BY_ROWS.has(result.case) ? ` --rows ${rows}` : ""}${processes > 1 ? ` --processes ${processes}` : ""}`;
  const kept: Kept = {
    ...result,
    at: new Date().toISOString().slice(0, 16) + "Z",
    machine: machine(),
    command: `npm run bench -- ${result.case} --seconds ${seconds}${extra}`,
    commit: tree.commit,
  };
  write(`${fileOf(result)}.json`, `${JSON.stringify(kept, null, 2)}\n`);
  const all = readdirSync(directory)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(directory, name), "utf8")) as Kept)
    .toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
  write("README.md", markdown(all));
  write("ratios.svg", picture(all));
  for (const one of all) if (one.curve) write(`${fileOf(one)}.svg`, curves(one.curve));
}

function machine(): string {
  const processors = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  return `${processors.length} × ${processors[0]?.model.trim() ?? "?"}, ${gib} GiB, ${platform()} ${release()} ${arch()}, Node ${process.versions.node}`;
}

function markdown(all: readonly Kept[]): string {
  const cells = (result: Kept): string[] => [
    nameOf(result),
    String(result.rate_per_s),
    `${result.baseline}: ${result.baseline_per_s}`,
    result.ratio.toFixed(2),
    `${result.aim} ${result.met ? "met" : "**missed**"}`,
    `${result.p50_ms} / ${result.p99_ms}`,
    result.cpu_aim_us === undefined ? cpuOf(result) : `${cpuOf(result)} = ${cpuAim(result)}`,
    String(result.memory_mib ?? NOT_MEASURED),
    `${result.errors}, ${result.verified ? "clean" : "NOT CLEAN"}`,
    Object.entries(result.notes)
      .map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`)
      .join("; "),
    `\`${result.command}\` at ${result.commit}, ${result.at}`,
  ];
  const head = [
    "case",
    "per second",
    "beside",
    "ratio",
    "aim",
    "p50 / p99 ms",
    "CPU µs, service + PostgreSQL",
    "MiB",
    "errors, verify",
    "notes",
    "run",
  ];
  const rows = [head, head.map(() => "---"), ...all.map(cells)].map((row) => `| ${row.join(" | ")} |`);
  const drawn = all
    .filter(({ curve }) => curve)
    .map((one) => `![${nameOf(one)}: latency at rates below the most, and at the most](${fileOf(one)}.svg)\n\n`)
    .join("");
  const machines = [...new Set(all.map((result) => result.machine))];
  return `# Measured\n\nWritten by \`npm run bench\`. Ratios are within one run; the generator, the service and PostgreSQL share the machine.\n\n![Ratios beside their aims](ratios.svg)\n\n${drawn}${rows.join("\n")}\n\nMachine: ${machines.join("; ")}\n`;
}

/** Draws bars of the ratios, each with a mark at its aim. */
function picture(all: readonly Kept[]): string {
  const [left, width, step, top] = [150, 380, 34, 20];
  const most = Math.max(2, ...all.flatMap(({ ratio, aim }) => [ratio, aim]));
  const x = (value: number): number => Math.round(left + (Math.min(value, most) / most) * width);
  const bars = all.map((one, index) => {
    const { ratio, aim, met } = one;
    const y = top + index * step;
    return `<text x="${left - 8}" y="${y + 15}" text-anchor="end">${nameOf(one)}</text>
<rect x="${left}" y="${y}" width="${x(ratio) - left}" height="20" fill="${met ? "#2f7d5b" : "#b4552d"}"/>
<line x1="${x(aim)}" x2="${x(aim)}" y1="${y - 4}" y2="${y + 24}" stroke="#222" stroke-width="2"/>
<text x="${x(ratio) + 6}" y="${y + 15}">${ratio.toFixed(2)}</text>`;
  });
  const height = top + all.length * step + 24;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="${height}" viewBox="0 0 600 ${height}" font-family="sans-serif" font-size="13">
<rect width="600" height="${height}" fill="#fff"/>
${bars.join("\n")}
<text x="${left}" y="${height - 8}" fill="#666">ratio to the baseline of the same run; the line is the aim</text>
</svg>
`;
}

/** Draws p50 and p99 at each given rate; the last rate is the maximum. */
function curves(points: readonly Point[]): string {
  const [left, top, width, height] = [60, 20, 480, 220];
  const step = (most: number): number => [5, 10, 20, 50, 100, 200, 500, 1000].find((one) => most / one <= 6) ?? 5000;
  const most = Math.max(...points.map(({ p99_ms }) => p99_ms));
  const fastest = Math.max(...points.map(({ rate_per_s }) => rate_per_s));
  const ceiling = Math.ceil(most / step(most)) * step(most);
  const x = (rate: number): number => Math.round(left + (rate / fastest) * width);
  const y = (ms: number): number => Math.round(top + height - (ms / ceiling) * height);
  const line = (
    colour: string,
    of: (point: Point) => number,
  ): string => `<polyline fill="none" stroke="${colour}" stroke-width="2"
points="${points.map((point) => `${x(point.rate_per_s)},${y(of(point))}`).join(" ")}"/>
${points.map((point) => `<circle cx="${x(point.rate_per_s)}" cy="${y(of(point))}" r="3" fill="${colour}"/>`).join("")}`;
  const rulers = Array.from({ length: ceiling / step(most) + 1 }, (_, index) => index * step(most)).map(
    (ms) => `<line x1="${left}" x2="${left + width}" y1="${y(ms)}" y2="${y(ms)}" stroke="#ddd"/>
<text x="${left - 6}" y="${y(ms) + 4}" text-anchor="end">${ms}</text>`,
  );
  const rates = points.map(
    ({ rate_per_s: rate }) => `<text x="${x(rate)}" y="${top + height + 18}" text-anchor="middle">${rate}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="300" viewBox="0 0 600 300" font-family="sans-serif" font-size="12">
<rect width="600" height="300" fill="#fff"/>
${rulers.join("\n")}
${line("#2f7d5b", ({ p50_ms }) => p50_ms)}
${line("#b4552d", ({ p99_ms }) => p99_ms)}
${rates.join("\n")}
<text x="${left}" y="290" fill="#666">milliseconds at so many a second, counted from when each was due: <tspan fill="#2f7d5b">p50</tspan>, <tspan fill="#b4552d">p99</tspan></text>
</svg>
`;
}
