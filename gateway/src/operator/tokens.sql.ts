// All SQL of operators' tokens and of their last uses.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { idOf, uuidOf, uuidOrNull } from "../ground/ids.ts";
import type { Row, Statement } from "../store/database.ts";
import { bulkInsert } from "../store/table.ts";
import type { OperatorRole } from "../people/operator-roles.ts";

export interface TokenTerms {
  name: string;
  role: OperatorRole;
  /** Undefined when the token ends only by being revoked. */
  expiresAt: Micros | undefined;
}

export interface NewToken extends TokenTerms {
  tokenId: string;
  createdAt: Micros;
  createdBy: string;
}

/** A token as listed, without its secret. */
export interface OperatorToken extends NewToken {
  replacedBy: string | undefined;
  revokedAt: Micros | undefined;
  lastUse: { at: Micros; address: string } | undefined;
}

/** A token with the fields that authenticate a request. */
export interface KnownToken extends TokenTerms {
  tokenId: string;
  /** SHA-256 of the secret, in hex. */
  digest: string;
  revoked: boolean;
}

export const insertTokens = bulkInsert<NewToken & { digest: Buffer }>("operator_tokens", {
  token_id: ["uuid", ({ tokenId }) => uuidOf(tokenId)],
  name: ["text", ({ name }) => name],
  role: ["text", ({ role }) => role],
  digest: ["bytea", ({ digest }) => digest],
  created_at: ["timestamptz", ({ createdAt }) => createdAt],
  created_by: ["text", ({ createdBy }) => createdBy],
  expires_at: ["timestamptz", ({ expiresAt }) => expiresAt],
});

/** Revokes all tokens of a name that are not revoked yet, or only the expired ones. Gives a row for each. */
export function revokeTokens(name: string, now: Micros, which: "all" | "expired"): Statement {
  return {
    text: `update operator_tokens set revoked_at = $2::timestamptz
where name = $1::text and revoked_at is null${which === "expired" ? " and expires_at <= $2::timestamptz" : ""}
returning token_id`,
    values: [name, sqlTime(now)],
  };
}

/** Records the token `by` as the replacement, and ends this token and those that it had replaced at `until` or earlier. Must run before `by` is inserted. */
export function replaceToken(token: { tokenId: string; name: string }, by: string, until: Micros): Statement {
  return {
    text: `update operator_tokens
set replaced_by = case when token_id = $1::uuid then $3::uuid else replaced_by end, expires_at = least(expires_at, $4::timestamptz)
where name = $2::text and revoked_at is null`,
    values: [uuidOf(token.tokenId), token.name, uuidOf(by), sqlTime(until)],
  };
}

export function countLiveTokens(now: Micros): Statement {
  return {
    text: `select count(*)::integer as live from operator_tokens
where revoked_at is null and (expires_at is null or expires_at > $1::timestamptz)`,
    values: [sqlTime(now)],
  };
}

const columns = `select t.token_id, t.name, t.role, t.digest, t.created_at, t.created_by, t.expires_at, t.replaced_by, t.revoked_at,
  u.used_at, u.address
from operator_tokens t
left join operator_token_uses u on u.token_id = t.token_id`;

/** The token of a name that is neither revoked nor replaced; it may have expired. */
export function selectCurrentToken(name: string): Statement {
  return {
    text: `${columns}
where t.name = $1::text and t.revoked_at is null and t.replaced_by is null`,
    values: [name],
  };
}

export function selectToken(tokenId: string): Statement {
  return { text: `${columns}\nwhere t.token_id = $1::uuid`, values: [uuidOf(tokenId)] };
}

/** At most `count` tokens older than `after`, newest first, ended ones too. */
export function selectTokens(after: string | undefined, count: number): Statement {
  return {
    text: `${columns}
where $1::uuid is null or t.token_id < $1::uuid
order by t.token_id desc
limit $2::integer`,
    values: [uuidOrNull(after), count],
  };
}

/** All valid tokens, and the newest `endedMax` ended ones, so that calls with an ended token can be recorded under its name. */
export function selectKnownTokens(now: Micros, endedMax: number): Statement {
  const isLive = "revoked_at is null and (expires_at is null or expires_at > $1::timestamptz)";
  return {
    text: `select token_id, name, role, digest, expires_at, revoked_at from operator_tokens where ${isLive}
union all
(select token_id, name, role, digest, expires_at, revoked_at from operator_tokens where not (${isLive})
order by token_id desc
limit $2::integer)`,
    values: [sqlTime(now), endedMax],
  };
}

/** Keeps the later use of each token. The rows are sorted by token, so that two processes cannot deadlock. */
export const recordTokenUses = bulkInsert<{ tokenId: string; at: Micros; address: string }>(
  "operator_token_uses",
  {
    token_id: ["uuid", ({ tokenId }) => uuidOf(tokenId)],
    used_at: ["timestamptz", ({ at }) => at],
    address: ["text", ({ address }) => address],
  },
  `order by v.token_id
on conflict (token_id) do update
set used_at = excluded.used_at, address = excluded.address
where operator_token_uses.used_at < excluded.used_at`,
);

const timeOrNone = (value: unknown): Micros | undefined => (value as Micros | null) ?? undefined;

function termsOfRow(row: Row): TokenTerms & { tokenId: string } {
  return {
    tokenId: idOf("operatorToken", row.token_id as string),
    name: row.name as string,
    role: row.role as OperatorRole,
    expiresAt: timeOrNone(row.expires_at),
  };
}

export function knownTokenOfRow(row: Row): KnownToken {
  return { ...termsOfRow(row), digest: (row.digest as Buffer).toString("hex"), revoked: row.revoked_at !== null };
}

export function tokenOfRow(row: Row): OperatorToken {
  const usedAt = timeOrNone(row.used_at);
  return {
    ...termsOfRow(row),
    createdAt: row.created_at as Micros,
    createdBy: row.created_by as string,
    replacedBy: row.replaced_by === null ? undefined : idOf("operatorToken", row.replaced_by as string),
    revokedAt: timeOrNone(row.revoked_at),
    lastUse: usedAt === undefined ? undefined : { at: usedAt, address: row.address as string },
  };
}
