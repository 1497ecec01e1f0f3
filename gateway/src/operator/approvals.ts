// Approvals by a second operator ("four eyes"): the policy, changes that wait for a second operator, and decisions about them. The rules are in approval.ts.
import { sha256 } from "../ground/crypto.ts";
import { Fault, assert, validationFault } from "../ground/fault.ts";
import { newId, isId } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { selectBalances } from "../ledger/ledger.sql.ts";
import type { Row } from "../store/database.ts";
import { handsOf, mayStillAct } from "./approval-hands.ts";
import { ApprovalRuns, type ApprovalsParts } from "./approval-runs.ts";
import {
  type ApprovalStatus,
  type Foreseen,
  type PolicyRules,
  boundOf,
  demands,
  isSame,
  objectionTo,
  refuseChanged,
} from "./approval.ts";
import { type DecisionOutlook, approvalView, effectsOf } from "./approvals.schema.ts";
import {
  type Approval,
  type ApprovalFilter,
  type Policy,
  type SentRequest,
  approvalOfRow,
  approve,
  closeApproval,
  countWaiting,
  expireApprovals,
  insertApprovals,
  insertPolicy,
  policyOfRow,
  selectApproval,
  selectApprovals,
  selectPolicy,
  selectSame,
} from "./approvals.sql.ts";
import { PATH_MAX } from "./audit.sql.ts";
import type { OperatorCall, OperatorEndpoint } from "./endpoint.ts";
import type { Operator } from "./known-tokens.ts";
import { mayAct } from "../people/operator-roles.ts";

/** Changes of one operator that may wait for a second operator at the same time. */
const WAITING_MAX = 100;
const BODY_MAX_BYTES = 65_536;
const EXPIRED_MAX = 100;

export class Approvals {
  private readonly parts: ApprovalsParts;
  readonly runs: ApprovalRuns;

  constructor(parts: ApprovalsParts) {
    this.parts = parts;
    this.runs = new ApprovalRuns(parts);
  }

  /** Reads the policy from the database each time, so that a new policy holds in every process at once. */
  async policy(): Promise<Policy> {
    const [row] = await this.parts.database.query(selectPolicy);
    return policyOfRow(row);
  }

  /** Replaces version `version` of the policy by the next one. Throws VALIDATION_ERROR when `version` is no longer the newest. */
  async setPolicy(version: number, rules: PolicyRules, changedBy: string): Promise<Policy> {
    const before = await this.policy();
    const [row] =
      before.version === version ? await this.parts.database.query(insertPolicy(version + 1, rules, changedBy)) : [];
    if (!row) throw staleVersion(version, (await this.policy()).version);
    return policyOfRow(row);
  }

  /**
   * Checks a change against the policy before it runs. `answer`: the change now waits for a second operator. `freeUpToMinor`: the change may run, up to this
   * amount where one is given. Throws the error with which the change would fail.
   */
  async judge(
    endpoint: OperatorEndpoint,
    call: OperatorCall,
    request: SentRequest,
  ): Promise<{ answer: Reply } | { freeUpToMinor: Minor | undefined }> {
    const { approval } = endpoint;
    if (!approval) return { freeUpToMinor: undefined };
    // A repeated idempotency key gets the approval that was made for it, whatever the policy says now: what was refused stays refused.
    const before = request.key === undefined ? undefined : await this.same(request);
    if (before) return { answer: again(before) };
    const { version, rules } = await this.policy();
    // A policy without this action needs no further query.
    if (boundOf(rules, approval.action, undefined) === null) return { freeUpToMinor: undefined };
    const foreseen = await approval.foresee(call);
    // Of what was done before, the stored answer is all that is free: the key may end before it is looked up again.
    if (!foreseen) return { freeUpToMinor: 0n };
    if (!demands(rules, approval.action, foreseen))
      return { freeUpToMinor: boundOf(rules, approval.action, foreseen.amount?.currency) ?? undefined };
    return { answer: await this.ask(endpoint, call, request, foreseen, version) };
  }

  /** Stores a change for a second operator. A repetition, while the change waits or under its idempotency key, gets the approval that exists. */
  private async ask(
    endpoint: OperatorEndpoint,
    { requestId, operator: askedBy }: OperatorCall,
    sent: SentRequest,
    foreseen: Foreseen,
    policyVersion: number,
  ): Promise<Reply> {
    const { database, clock } = this.parts;
    if (sent.body.length > BODY_MAX_BYTES || sent.path.length > PATH_MAX) throw new Fault("PAYLOAD_TOO_LARGE");
    assert(endpoint.approval, `${endpoint.operationId} never needs a second operator`);
    await database.query(expireApprovals(EXPIRED_MAX));
    const before = await this.same(sent);
    if (before) return again(before);
    const [row] = await database.query<{ waiting: number }>(countWaiting(askedBy.name, WAITING_MAX));
    if ((row?.waiting ?? 0) >= WAITING_MAX)
      throw new Fault("RATE_LIMITED", {
        message: `${WAITING_MAX} changes that you asked for wait for a second operator. Have some decided first.`,
        retryAfterSeconds: 60,
      });
    const uuid = newId("approval", clock.now());
    const { action } = endpoint.approval;
    const request = { ...sent, operation: endpoint.operationId, digest: sha256(sent.body) };
    const asked = { uuid, action, request, foreseen, leastRole: endpoint.role, policyVersion, requestId, askedBy };
    const made = await database.query(insertApprovals([asked]));
    if (made.length > 0) return reply(202, { approval: approvalView(await this.required(uuid)) });
    const other = await this.same(sent); // a concurrent request stored the approval
    if (!other) throw new Fault("SERVICE_UNAVAILABLE");
    return again(other);
  }

  /** Finds the approval of the same change. Throws IDEMPOTENCY_CONFLICT when the idempotency key belongs to another change. */
  private async same(sent: SentRequest): Promise<Approval | undefined> {
    const digest = sha256(sent.body);
    const found = await this.parts.database.first(selectSame(sent, digest), approvalOfRow);
    if (!found) return undefined;
    const { request } = found;
    if (request.method !== sent.method || request.path !== sent.path || !request.digest.equals(digest))
      throw new Fault("IDEMPOTENCY_CONFLICT", { details: { idempotency_key: sent.key, approval: found.uuid } });
    return found;
  }

  async find(uuid: string): Promise<Approval | undefined> {
    return isId("approval", uuid) ? this.parts.database.first(selectApproval(uuid), approvalOfRow) : undefined;
  }

  /** Throws OBJECT_NOT_FOUND. */
  async required(uuid: string): Promise<Approval> {
    const found = await this.find(uuid);
    if (!found) throw new Fault("OBJECT_NOT_FOUND", { message: "There is no such approval." });
    return found;
  }

  /** An approval that can still be decided. Throws OBJECT_NOT_FOUND, APPROVAL_CLOSED. */
  private async waiting(uuid: string): Promise<Approval> {
    const approval = await this.required(uuid);
    if (approval.status !== "waiting") throw closed(approval.status);
    return approval;
  }

  /** Lists approvals, newest first, and one more than `limit`. */
  async list(filter: ApprovalFilter, limit: number): Promise<Approval[]> {
    return (await this.parts.database.query(selectApprovals(filter, limit))).map(approvalOfRow);
  }

  /** The approval as `reader` sees it: with the effects that the change would have now, and the reason why `reader` may not approve it. */
  async record(approval: Approval, reader: Operator): Promise<Record<string, unknown>> {
    const { askedBy, status } = approval;
    const { effects, would_fail } =
      status === "waiting"
        ? await this.outlook(() => this.runs.callOf(approval), approval.summary)
        : { effects: [], would_fail: null };
    return {
      ...approvalView(approval),
      effects,
      would_fail,
      objection: status === "waiting" ? ((await this.objection(approval, reader)) ?? null) : closedMessage(status),
      is_yours: isSame(reader, askedBy),
    };
  }

  /**
   * Approves a change, runs it, and gives the approval with its outcome; its status is `executing` while the outcome is unknown. Throws OBJECT_NOT_FOUND,
   * APPROVAL_CLOSED, and FORBIDDEN when the operator may not be the second operator.
   */
  async approve(uuid: string, by: Operator, note: string | undefined): Promise<Approval> {
    const { database, clock, log } = this.parts;
    const approval = await this.waiting(uuid);
    const objection = await this.objection(approval, by);
    if (objection !== undefined) throw new Fault("FORBIDDEN", { message: objection });
    const { madeAt } = await handsOf(database, by);
    if (madeAt === undefined) throw new Fault("FORBIDDEN");
    const taken = await database.query(approve(uuid, by, madeAt, { note, runId: newId("request", clock.now()) }));
    const decided = await this.required(uuid);
    if (taken.length === 0) throw closed(decided.status);
    try {
      await this.runs.run(decided);
    } catch (error) {
      // The decision stands. A later `takeUp` finds out the outcome.
      log.warn({ err: error, approval: uuid }, "an approved change has no outcome yet; it is looked up again");
    }
    return this.required(uuid);
  }

  /** Throws OBJECT_NOT_FOUND, APPROVAL_CLOSED, and FORBIDDEN for the operator who asked for the change or whose role is too low for it. */
  async refuse(uuid: string, by: Operator, note: string | undefined): Promise<Approval> {
    const approval = await this.waiting(uuid);
    const { askedBy, leastRole } = approval;
    if (isSame(by, askedBy))
      throw new Fault("FORBIDDEN", { message: "You asked for this yourself. Take it back instead." });
    if (!mayAct(by.role, leastRole))
      throw new Fault("FORBIDDEN", { message: `This takes the role ${leastRole}; yours is ${by.role}.` });
    return this.close(uuid, "refused", by, note);
  }

  /** Throws OBJECT_NOT_FOUND, APPROVAL_CLOSED, and FORBIDDEN for everyone except the operator who asked for the change. */
  async withdraw(uuid: string, by: Operator): Promise<Approval> {
    const approval = await this.waiting(uuid);
    const { askedBy } = approval;
    if (!isSame(by, askedBy))
      throw new Fault("FORBIDDEN", { message: `${askedBy.name} asked for this, and alone can take it back.` });
    return this.close(uuid, "withdrawn", by, undefined);
  }

  /** One round of background work: expires approvals that waited too long, and resumes approved changes without an outcome. */
  async sweep(): Promise<void> {
    await this.parts.database.query(expireApprovals(EXPIRED_MAX));
    await this.runs.takeUp();
  }

  private async close(
    uuid: string,
    status: "refused" | "withdrawn",
    by: Operator,
    note: string | undefined,
  ): Promise<Approval> {
    const done = await this.parts.database.query(closeApproval(uuid, status, by, note));
    const after = await this.required(uuid);
    if (done.length === 0) throw closed(after.status);
    return after;
  }

  /** The reason why an operator cannot approve the change now; undefined when the operator can. */
  private async objection({ askedBy, askedAt, leastRole }: Approval, approver: Operator): Promise<string | undefined> {
    const { database } = this.parts;
    const [asker, hands, isStillAllowed] = await Promise.all([
      handsOf(database, askedBy),
      handsOf(database, approver),
      mayStillAct(this.parts, askedBy, leastRole),
    ]);
    const objection = objectionTo({ askedBy, askedAt, leastRole }, asker, approver, hands);
    if (objection !== undefined || isStillAllowed) return objection;
    return `${askedBy.name}, who asked for this, may not do it any more. Refuse it.`;
  }

  /** What a call would do if it were sent now, and whether it would need a second operator, for pages on which an operator decides. */
  async foresee(
    operation: string,
    { params, body = null }: { params: Readonly<Record<string, string>>; body?: Record<string, unknown> | null },
    { operator, requestId }: OperatorCall,
  ): Promise<DecisionOutlook> {
    const endpoint = this.runs.endpoint(operation);
    assert(endpoint?.approval, `${operation} foresees nothing`);
    const call = { params, body: body ?? {}, query: {}, requestId, operator, keyed: undefined };
    const { rules } = await this.policy();
    const { foreseen, ...outlook } = await this.outlook(() => ({ endpoint, call }));
    const { action } = endpoint.approval;
    return {
      operation,
      method: endpoint.method,
      path: endpoint.path.replaceAll(/\{(\w+)\}/g, (_part, name: string) => params[name] ?? ""),
      body,
      least_role: endpoint.role,
      needs_approval: foreseen !== undefined && demands(rules, action, foreseen),
      summary: foreseen?.summary ?? null,
      ...outlook,
    };
  }

  /** Evaluates a change now: the balances before and after it, or the error with which `callOf` or the change would fail. `asked`: as `refuseChanged`. */
  private async outlook(
    callOf: () => { endpoint: OperatorEndpoint; call: OperatorCall },
    asked?: string,
  ): Promise<Pick<DecisionOutlook, "effects" | "would_fail"> & { foreseen: Foreseen | undefined }> {
    try {
      const { endpoint, call } = callOf();
      const foreseen = await endpoint.approval?.foresee(call);
      if (asked !== undefined) refuseChanged(asked, foreseen);
      const { postings = [], book } = foreseen ?? {};
      const rows = book && postings.length > 0 ? await this.parts.database.query(selectBalances(book)) : [];
      const balances = balancesOf(rows);
      foreseen?.refuseUnfunded?.(balances);
      return { foreseen, effects: effectsOf(postings, balances), would_fail: null };
    } catch (error) {
      return { foreseen: undefined, effects: [], would_fail: refusalOf(error) };
    }
  }
}

/** The code and message of a client error. Throws every other error again. */
function refusalOf(error: unknown): { code: string; message: string } {
  if (!(error instanceof Fault) || error.status >= 500) throw error;
  return { code: error.code, message: error.message };
}

/** Balances by account and currency: debits minus credits, in minor units. */
function balancesOf(rows: readonly Row[]): Map<string, Minor> {
  return new Map(
    rows.map((row) => [
      `${row.account as string} ${row.currency as string}`,
      ((row.debit_minor as Minor | null) ?? 0n) - ((row.credit_minor as Minor | null) ?? 0n),
    ]),
  );
}

/** Answers a repeated request with the current state of its approval. */
function again(approval: Approval): Reply {
  const waits = approval.status === "waiting" || approval.status === "executing";
  return { ...reply(waits ? 202 : 200, { approval: approvalView(approval) }), replayed: true };
}

/** The error for a policy that changed since the operator read it. */
export function staleVersion(sent: number, current: number): Fault {
  return validationFault("version", sent, `The policy is at version ${current}. Read it again before you change it.`);
}

const closedMessage = (status: ApprovalStatus): string =>
  status === "expired" ? "It has expired. Ask for it again." : `It is ${status}.`;

function closed(status: ApprovalStatus): Fault {
  return new Fault("APPROVAL_CLOSED", { message: closedMessage(status), details: { status } });
}
