// CPU time of processes in microseconds, as Linux counts it in /proc. Undefined without /proc.
import { readFileSync, readdirSync } from "node:fs";

/** CPU time of all processes of the service, and of all of PostgreSQL. */
export interface Cpu {
  service: number;
  postgres: number;
}

/** The unit of /proc, USER_HZ: a hundredth of a second on every architecture that Node runs on. */
const TICK_US = 10_000;

interface Stat {
  parent: number;
  /** CPU time of all threads of the process, in ticks. */
  own: number;
  /** CPU time of its children that ended and were waited for, in ticks. */
  ended: number;
}

/** Reads /proc/PID/stat; see proc_pid_stat(5). */
function statOf(pid: number | string): Stat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined; // no such process, or no /proc
  }
  // The second field is a name in parentheses, which may hold any character. The field after it is number 3.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const field = (number: number): number => Number(fields[number - 3]);
  return { parent: field(4), own: field(14) + field(15), ended: field(16) + field(17) };
}

/** CPU time of one process with all its threads. */
export function cpuOfProcess(pid: number): number | undefined {
  const stat = statOf(pid);
  return stat && stat.own * TICK_US;
}

/** CPU time of one process and all children that it has or had. */
export function cpuOfFamily(pid: number): number | undefined {
  for (;;) {
    const parent = statOf(pid);
    if (parent === undefined) return undefined;
    const children = readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(statOf)
      .filter((stat) => stat?.parent === pid);
    // A child that ended during the count may be counted twice or not at all, so the count starts anew.
    if (statOf(pid)?.ended !== parent.ended) continue;
    return (
      TICK_US *
      children.reduce((sum, child) => sum + (child?.own ?? 0) + (child?.ended ?? 0), parent.own + parent.ended)
    );
  }
}

export function cpuBetween(before: Cpu | undefined, after: Cpu | undefined): Cpu | undefined {
  return before && after && { service: after.service - before.service, postgres: after.postgres - before.postgres };
}

export function cpuSum(all: readonly (Cpu | undefined)[]): Cpu | undefined {
  const sum = { service: 0, postgres: 0 };
  for (const cpu of all) {
    if (cpu === undefined) return undefined;
    sum.service += cpu.service;
    sum.postgres += cpu.postgres;
  }
  return sum;
}

/** CPU time per request, rounded. */
export function cpuOfEach(cpu: Cpu | undefined, requests: number): Cpu | undefined {
  return cpu && { service: Math.round(cpu.service / requests), postgres: Math.round(cpu.postgres / requests) };
}
