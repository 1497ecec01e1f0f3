// The case `attack`: a merchant's payments at a steady rate while an attacker uses up capacity, compared with the same without an attack.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Client } from "../e2e/kit/client.ts";
import type { AttackPlan, AttackReport } from "./attacker.ts";
import { TURNS, onStage, resultOf, round, sound, warm } from "./case.ts";
import type { Options, Result } from "./result.ts";
import { type Load, type LoadReport, type Stage, together } from "./stage.ts";

/** Payments per second that the merchant creates and has paid. */
const PAID_PER_S = 100;
const CONNECTIONS = 16;
/** Largest ratio of p99 under attack to p99 without. */
const AIM = 2;
/** Addresses from which the attack comes: others than the merchant's, or the merchant's own. */
const OTHERS = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"];
const OWN = ["127.0.0.1"];

class Attack {
  private readonly child;

  private constructor(plan: AttackPlan) {
    const program = join(import.meta.dirname, "attacker.ts");
    this.child = spawn(process.execPath, [program, JSON.stringify(plan)], { stdio: ["pipe", "pipe", "inherit"] });
  }

  static async begin(plan: AttackPlan): Promise<Attack> {
    const attack = new Attack(plan);
    await once(attack.child.stdout, "data");
    return attack;
  }

  async end(): Promise<AttackReport> {
    const said = text(this.child.stdout);
    this.child.stdin.end();
    return JSON.parse(await said) as AttackReport;
  }
}

/** Runs the merchant's load while an attack comes from these addresses. */
async function attacked(
  stage: Stage,
  load: Load,
  addresses: readonly string[],
): Promise<{ run: LoadReport; did: AttackReport }> {
  const { client_id: clientId, secret } = stage.sender;
  const origin = stage.owner.origin;
  const client = new Client({ base_url: `${origin}/v1`, client_id: clientId, secret });
  const seen = client.headers("");
  const first = await fetch(`${origin}/v1/balances`, { headers: seen });
  if (!first.ok) throw new Error(`the request that is sent again was answered ${first.status} at first`);
  const attack = await Attack.begin({ port: Number(new URL(origin).port), addresses, clientId, seen });
  try {
    return { run: await stage.load(load), did: await attack.end() };
  } catch (error) {
    await attack.end();
    throw error;
  }
}

/** The ratio is that of p99, in the worse of two attacks: from other addresses, and from the merchant's own. Lower is better. */
export const attack = ({ seconds, processes }: Options): Promise<Result> =>
  onStage({ processes }, async (stage) => {
    const load = { senders: [stage.sender], lifecycle: true, pace: PAID_PER_S, connections: CONNECTIONS };
    // Each process builds its API contracts at their first request; in production it does so before it takes requests.
    for (const path of ["/openapi.json", "/portal/v1/openapi.json"])
      await (await fetch(stage.owner.origin + path)).arrayBuffer();
    await stage.load({ ...warm(seconds), ...load });
    const [peace, others, own]: [LoadReport[], LoadReport[], LoadReport[]] = [[], [], []];
    const did: AttackReport[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const part = (label: string): Load => ({ ...load, label: `${label}${turn}`, seconds: seconds / TURNS });
      peace.push(await stage.load(part("peace")));
      for (const [runs, label, addresses] of [
        [others, "others", OTHERS],
        [own, "own", OWN],
      ] as const) {
        const result = await attacked(stage, part(label), addresses);
        runs.push(result.run);
        did.push(result.did);
      }
    }
    const [calm, fromOthers, fromOwn] = [together(peace), together(others), together(own)];
    const run = fromOthers.p99_ms > fromOwn.p99_ms ? fromOthers : fromOwn;
    const ratio = round(run.p99_ms / calm.p99_ms, 2);
    const errors = calm.errors + (run === fromOwn ? fromOthers : fromOwn).errors;
    const { clean: verified } = await stage.verify();
    const sum = (name: keyof AttackReport): number => did.reduce((total, each) => total + each[name], 0);
    return {
      ...resultOf("attack", run, { name: "in peace", rate: calm.requests / calm.seconds }, AIM, {
        memory: stage.memory(),
        verified,
        errors,
      }),
      ratio,
      met: ratio <= AIM && sound(run, { errors, verified }),
      notes: {
        ratio_of: "p99, lower is better",
        peace_p99_ms: calm.p99_ms,
        others_p99_ms: fromOthers.p99_ms,
        own_p99_ms: fromOwn.p99_ms,
        connections_that_never_read: sum("unread"),
        bodies_that_never_came: sum("bodies"),
        guesses: sum("guesses"),
        replays: sum("replays"),
        ...run.reasons,
      },
    };
  });
