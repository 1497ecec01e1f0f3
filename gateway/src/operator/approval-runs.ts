// Runs approved changes: each stored request goes once through the handler of its endpoint, and the outcome is stored with the approval.
import { sha256 } from "../ground/crypto.ts";
import { type Clock, SECOND } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import type { Log } from "../ground/log.ts";
import { type Reply, faultReply } from "../ground/reply.ts";
import { eachInTurn } from "../ground/throttle.ts";
import { bodyOf, judgeInput } from "../http/input.ts";
import type { Database } from "../store/database.ts";
import { type Approval, approvalOfRow, endApproval, takeUpExecuting } from "./approvals.sql.ts";
import { type AuditedCall } from "./audit.sql.ts";
import { type Audit, keptBody } from "./audit.ts";
import { refuseChanged } from "./approval.ts";
import type { OperatorCall, OperatorEndpoint } from "./endpoint.ts";

/** After more attempts than this, or longer after the decision than this, the outcome becomes `unknown`. */
const ATTEMPTS_MAX = 10;
const UNKNOWN_AFTER = 24 * 3_600 * SECOND;
/** Approved changes that one round resumes at most. */
const TAKEN_MAX = 10;

export interface ApprovalsParts {
  database: Database;
  audit: Audit;
  clock: Clock;
  log: Log;
}

interface Outcome {
  status: "executed" | "failed" | "unknown";
  /** Undefined when the outcome is `unknown`. */
  answer?: Reply;
}

export class ApprovalRuns {
  private readonly parts: ApprovalsParts;
  private endpoints: ReadonlyMap<string, OperatorEndpoint> = new Map();

  constructor(parts: ApprovalsParts) {
    this.parts = parts;
  }

  /** The endpoints through which approved changes run. */
  serve(endpoints: readonly OperatorEndpoint[]): void {
    this.endpoints = new Map(endpoints.map((endpoint) => [endpoint.operationId, endpoint]));
  }

  /**
   * Runs an approved change, or finds out the outcome of an earlier attempt. The change has an idempotency key of its own, so repeated attempts take effect
   * once. Without an outcome the approval stays `executing`, and `takeUp` tries again.
   */
  async run(approval: Approval): Promise<void> {
    const { database, audit } = this.parts;
    const { uuid, request, askedBy, decision, runId, book, attempts } = approval;
    assert(decision && runId, `${uuid} runs without a decision`);
    const call: AuditedCall = {
      requestId: runId,
      actor: askedBy.name,
      address: undefined,
      role: askedBy.role,
      method: request.method,
      path: request.path,
      merchantId: book?.merchantId,
      approvedBy: decision.by.name,
    };
    if (attempts <= ATTEMPTS_MAX && !(await audit.has(runId)))
      await audit.asked(call, request.body.length === 0 ? undefined : JSON.parse(request.body.toString("utf8")));
    const { status, answer } = (await this.outcomeOf(approval)) ?? {};
    if (!status) return;
    await database.transaction(async (query) => {
      const kept = answer && { status: answer.status, body: keptBody(JSON.parse(answer.body)) };
      const [ended] = await query(endApproval(approval, status, kept));
      if (ended && answer) await query(audit.answerOf(call, answer.status));
    });
  }

  /** Resumes approved changes that have no outcome. */
  async takeUp(): Promise<void> {
    const rows = await this.parts.database.query(takeUpExecuting(TAKEN_MAX));
    await eachInTurn(rows, (row) => this.run(approvalOfRow(row)));
  }

  endpoint(operationId: string): OperatorEndpoint | undefined {
    return this.endpoints.get(operationId);
  }

  /** Rebuilds the call of an endpoint from the stored request. Throws the error with which the same request would be rejected today. */
  callOf(approval: Approval): { endpoint: OperatorEndpoint; call: OperatorCall } {
    const { uuid, request, askedBy, requestId, runId } = approval;
    const endpoint = this.endpoints.get(request.operation);
    if (!endpoint?.approval) throw new Fault("ROUTE_NOT_FOUND", { message: "There is no such operation any more." });
    assert(sha256(request.body).equals(request.digest), `the request of ${uuid} is not the one that was asked for`);
    const { body, query } = judgeInput(endpoint, bodyOf(request.body, endpoint.body), {});
    const params = paramsOf(endpoint.path, request.path);
    const keyed = {
      key: request.key ?? `approval.${uuid}`,
      endpoint: `${request.method} ${request.path}`,
      bodyDigest: request.digest,
    };
    return {
      endpoint,
      call: {
        params,
        body,
        query,
        requestId: runId ?? requestId,
        operator: { ...askedBy, expiresAt: undefined },
        keyed,
        approvalId: uuid,
        approved: { summary: approval.summary, amountMinor: approval.amount?.amountMinor },
      },
    };
  }

  /** Runs or looks up the change, and gives its outcome; undefined while that is not known: an earlier attempt may be of a version that reads more. */
  private async outcomeOf(approval: Approval): Promise<Outcome | undefined> {
    const { clock, log } = this.parts;
    const { uuid, attempts, decision, runId = "" } = approval;
    const isLost = attempts > ATTEMPTS_MAX || (decision && clock.now() - decision.at > UNKNOWN_AFTER);
    if (isLost) return { status: "unknown" };
    let isRead = attempts === 1;
    try {
      const { endpoint, call } = this.callOf(approval);
      isRead = true;
      const { approval: approvable } = endpoint;
      if (attempts === 1) refuseChanged(approval.summary, await approvable?.foresee(call));
      // A repeated attempt runs under its idempotency key, or `lookUp` reads the object instead.
      const answer = await (attempts > 1 && approvable?.lookUp ? approvable.lookUp(call) : endpoint.handle(call));
      if (!answer) return { status: "unknown" };
      return { status: answer.status < 400 ? "executed" : "failed", answer };
    } catch (error) {
      if (isRead && error instanceof Fault && isDecisive(error))
        return { status: "failed", answer: faultReply(error, runId) };
      log.warn({ err: error, approval: uuid }, "an approved change has no outcome yet; it is looked up again");
      return undefined;
    }
  }
}

/** True for an error after which nothing has happened, and nothing will happen when the same request is repeated. */
function isDecisive({ code, status }: Fault): boolean {
  if (code === "NO_ROUTE_AVAILABLE") return true;
  return status < 500 && code !== "IDEMPOTENCY_IN_PROGRESS" && code !== "RATE_LIMITED";
}

/** The path parameters of `path`, by their names in the template. */
function paramsOf(template: string, path: string): Record<string, string> {
  const pattern = new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
  const { groups = {} } = pattern.exec(path) ?? {};
  return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]));
}
