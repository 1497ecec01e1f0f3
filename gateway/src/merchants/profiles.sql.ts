// SQL of merchants' profiles: branding for payers, and the language and time zone of people who have chosen none.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import type { Language } from "../ground/languages.ts";
import type { Picture } from "../ground/pictures.ts";
import { type Row, type Statement, optional } from "../store/database.ts";

export interface Logo extends Picture {
  /** SHA-256 of the picture's bytes, in hex; part of the logo's address. */
  digest: string;
}

export interface Profile {
  name: string;
  language: Language | undefined;
  timeZone: string | undefined;
  /** `#` and six hex digits, lower-case. */
  colour: string | undefined;
  logo: Logo | undefined;
}

/** Undefined leaves a field as it is; null clears it. */
export interface ProfileChange {
  language?: Language | null | undefined;
  timeZone?: string | null | undefined;
  colour?: string | null | undefined;
}

/** Reads a profile without the bytes of the logo. No row when there is no such merchant. */
export function selectProfile(merchantId: string): Statement {
  return {
    name: "select merchant's profile",
    text: `select m.name, p.language, p.time_zone, p.colour, p.logo_type, p.logo_width, p.logo_height, encode(p.logo_digest, 'hex') as logo_digest
from merchants m
left join merchant_profiles p using (merchant_id)
where m.merchant_id = $1::uuid`,
    values: [uuidOf(merchantId)],
  };
}

export function profileOfRow(row: Row): Profile {
  return {
    name: row.name as string,
    language: optional<Language>(row.language),
    timeZone: optional<string>(row.time_zone),
    colour: optional<string>(row.colour),
    logo:
      row.logo_digest === null
        ? undefined
        : {
            type: row.logo_type as Logo["type"],
            width: row.logo_width as number,
            height: row.logo_height as number,
            digest: row.logo_digest as string,
          },
  };
}

export interface LogoRow extends Record<string, unknown> {
  logo: Buffer;
  logo_type: Logo["type"];
}

/** Reads the logo with this digest as `LogoRow`; no row when the merchant has another logo, or none. */
export function selectLogo(merchantId: string, digest: string): Statement {
  return {
    name: "select merchant's logo",
    text: `select logo, logo_type
from merchant_profiles
where merchant_id = $1::uuid and logo_digest = decode($2::text, 'hex')`,
    values: [uuidOf(merchantId), digest],
  };
}

/** Writes a profile. Each column is set only when the boolean that belongs to it is true. */
export function upsertProfile(merchantId: string, change: ProfileChange, now: Micros): Statement {
  const { language, timeZone, colour } = change;
  return {
    text: `insert into merchant_profiles (merchant_id, language, time_zone, colour, updated_at)
values ($1::uuid, $2::text, $3::text, $4::text, $8::timestamptz)
on conflict (merchant_id) do update
set language = case when $5::boolean then excluded.language else merchant_profiles.language end,
  time_zone = case when $6::boolean then excluded.time_zone else merchant_profiles.time_zone end,
  colour = case when $7::boolean then excluded.colour else merchant_profiles.colour end,
  updated_at = excluded.updated_at`,
    values: [
      uuidOf(merchantId),
      language ?? null,
      timeZone ?? null,
      colour ?? null,
      language !== undefined,
      timeZone !== undefined,
      colour !== undefined,
      sqlTime(now),
    ],
  };
}

/** Stores a logo and replaces an earlier one. */
export function upsertLogo(merchantId: string, logo: Logo, bytes: Buffer, now: Micros): Statement {
  return {
    text: `insert into merchant_profiles (merchant_id, logo, logo_type, logo_width, logo_height, logo_digest, updated_at)
values ($1::uuid, $2::bytea, $3::text, $4::smallint, $5::smallint, decode($6::text, 'hex'), $7::timestamptz)
on conflict (merchant_id) do update
set logo = excluded.logo, logo_type = excluded.logo_type, logo_width = excluded.logo_width, logo_height = excluded.logo_height,
  logo_digest = excluded.logo_digest, updated_at = excluded.updated_at`,
    values: [uuidOf(merchantId), bytes, logo.type, logo.width, logo.height, logo.digest, sqlTime(now)],
  };
}

/** Removes the logo. No row when there is none. */
export function clearLogo(merchantId: string, now: Micros): Statement {
  return {
    text: `update merchant_profiles
set logo = null, logo_type = null, logo_width = null, logo_height = null, logo_digest = null, updated_at = $2::timestamptz
where merchant_id = $1::uuid and logo is not null
returning 1`,
    values: [uuidOf(merchantId), sqlTime(now)],
  };
}

export function renameMerchant(merchantId: string, name: string, epoch: bigint): Statement {
  return {
    text: "update merchants set name = $2::text, epoch = $3::bigint where merchant_id = $1::uuid",
    values: [uuidOf(merchantId), name, epoch],
  };
}
