// Goal: the database refuses each invitation, device code and challenge that breaks a rule, whatever the code does. Method: one row in each table; each
// rule is broken by a change of that row, also at the ends of ranges.
import { beforeAll, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";
import { expectRights, expectRules } from "../../test/table-rules.ts";

const id = (last: number): string => `'01900000-0000-7000-8000-00000000000${last}'`;
const text = (count: number): string => `repeat('x', ${count})`;
let database: TestDatabase;

/** An insert of one row; `changes` replace the values of the columns that they name, and add columns. */
const inserting =
  (table: string, row: Record<string, string>) =>
  (changes: Record<string, string> = {}): string => {
    const all = { ...row, ...changes };
    return `insert into ${table} (${Object.keys(all).join(", ")}) values (${Object.values(all).join(", ")})`;
  };
const times = { created_at: "now()", expires_at: "now() + interval '1 day'" };
const invitation = inserting("invitations", {
  merchant_id: id(1),
  invitation_id: "gen_random_uuid()",
  token_digest: "sha256('another')",
  role: "'viewer'",
  ...times,
});
const ofOperator = inserting("operator_invitations", {
  invitation_id: "gen_random_uuid()",
  token_digest: "sha256('another')",
  role: "'viewer'",
  invited_by: "'sari'",
  ...times,
});
const code = inserting("device_codes", {
  device_digest: "sha256('another')",
  user_code: "'BCDFGHJK'",
  name: "'x'",
  environment: "'sandbox'",
  address: "'x'",
  address_group: "'x'",
  user_agent: "'x'",
  interval_seconds: "5",
  ...times,
});
const challenge = inserting("passkey_challenges", {
  slot: "1",
  challenge: "sha256('another')",
  purpose: "'sign_in'",
  expires_at: "now()",
});

beforeAll(async () => {
  database = await cloneDatabase();
  const digest = { token_digest: "sha256('first')" };
  await asOwner(database, (client) =>
    client.query(
      [
        `insert into merchants (merchant_id, name, settings, epoch, created_at) values (${id(1)}, 'x', '{}', 0, now())`,
        `insert into persons (person_id, email, name, created_at) values (${id(2)}, 'a@b', 'x', now())`,
        invitation({ invitation_id: id(3), ...digest }),
        ofOperator({ invitation_id: id(3), ...digest }),
        code({ device_digest: "sha256('first')", user_code: "'LMNPQRST'" }),
        challenge({ slot: "0", challenge: "sha256('first')" }),
      ].join(";\n"),
    ),
  );
});

const email = ["email = 'A@b'", "email = 'ab'", `email = ${text(255)}`];
const digests = ["token_digest = 'x'", "token_digest = sha256('x') || 'x'::bytea"];

test("every rule of the tables of invitations refuses what breaks it", async () => {
  const taken = { token_digest: "sha256('first')" };
  await expectRules(
    database,
    "invitations",
    [
      ["invitations_pkey", invitation({ invitation_id: id(3) })],
      ["invitations_token", invitation(taken)],
      ["invitations_token_digest_check", ...digests],
      ["invitations_role_check", "role = 'admin'"],
      ["invitations_email_check", ...email],
      ["invitations_accepted", `accepted_by = ${id(2)}`],
      ["invitations_merchant_id_fkey", invitation({ merchant_id: id(9) })],
      ["invitations_invited_by_fkey", invitation({ invited_by: id(9) })],
      ["invitations_accepted_by_fkey", invitation({ accepted_by: id(9), ended_at: "now()" })],
    ],
    [invitation(), `accepted_by = ${id(2)}, ended_at = now()`, "ended_at = now()", "email = 'a@b', role = 'owner'"],
  );
  await expectRules(
    database,
    "operator_invitations",
    [
      ["operator_invitations_pkey", ofOperator({ invitation_id: id(3) })],
      ["operator_invitations_token", ofOperator(taken)],
      ["operator_invitations_token_digest_check", ...digests],
      ["operator_invitations_role_check", "role = 'owner'"],
      ["operator_invitations_email_check", ...email],
      ["operator_invitations_invited_by_check", "invited_by = ''", `invited_by = ${text(255)}`],
      ["operator_invitations_check", "expires_at = created_at"],
      ["operator_invitations_accepted", `accepted_by = ${id(2)}`],
      ["operator_invitations_accepted_by_fkey", ofOperator({ accepted_by: id(9), ended_at: "now()" })],
    ],
    [ofOperator(), `accepted_by = ${id(2)}, ended_at = now()`, "ended_at = now()", "email = 'a@b', role = 'admin'"],
  );
});

test("every rule of the table of device codes refuses what breaks it", async () => {
  const refused = `answered_at = now(), person_id = ${id(2)}, session_id = ${id(5)}`;
  const granted = `${refused}, merchant_id = ${id(1)}, scopes = '{x}'`;
  await expectRules(
    database,
    "device_codes",
    [
      ["device_codes_pkey", code({ device_digest: "sha256('first')" })],
      ["device_codes_user_code", code({ user_code: "'LMNPQRST'" })],
      ["device_codes_user_code_check", "user_code = 'ABCDFGHJ'", "user_code = 'BCDFGHJ'", "user_code = 'BCDFGHJKL'"],
      ["device_codes_device_digest_check", "device_digest = 'x'"],
      ["device_codes_name_check", "name = ''", `name = ${text(61)}`],
      ["device_codes_environment_check", "environment = 'test'"],
      ["device_codes_address_check", `address = ${text(61)}`],
      ["device_codes_address_group_check", `address_group = ${text(61)}`],
      ["device_codes_user_agent_check", `user_agent = ${text(301)}`],
      ["device_codes_check", "expires_at = created_at"],
      ["device_codes_interval_seconds_check", "interval_seconds = 0", "interval_seconds = 61"],
      ["device_codes_scopes_check", `${refused}, merchant_id = ${id(1)}, scopes = '{}'`],
      [
        "device_codes_merchant_id_fkey",
        code({ answered_at: "now()", person_id: id(2), session_id: id(5), merchant_id: id(9), scopes: "'{x}'" }),
      ],
      ["device_codes_person_id_fkey", code({ answered_at: "now()", person_id: id(9), session_id: id(5) })],
      [
        "device_codes_answer",
        "answered_at = now()",
        `answered_at = now(), person_id = ${id(2)}`,
        `answered_at = now(), session_id = ${id(5)}`,
        `person_id = ${id(2)}, session_id = ${id(5)}`,
        `${refused}, merchant_id = ${id(1)}`,
        `${refused}, scopes = '{x}'`,
        `merchant_id = ${id(1)}, scopes = '{x}'`,
        `${refused}, used_at = now()`,
        "used_at = now()",
      ],
    ],
    [code(), refused, granted, `${granted}, used_at = now()`],
  );
});

test("every rule of the table of challenges refuses what breaks it", async () => {
  await expectRules(
    database,
    "passkey_challenges",
    [
      ["passkey_challenges_pkey", challenge({ slot: "0" })],
      ["passkey_challenges_challenge", challenge({ challenge: "sha256('first')" })],
      ["passkey_challenges_challenge_check", "challenge = 'x'"],
      ["passkey_challenges_slot_check", "slot = -1", "slot = 262144"],
      ["passkey_challenges_purpose_check", `purpose = 'other', person_id = ${id(2)}`],
      ["passkey_challenges_person", `person_id = ${id(2)}`, "purpose = 'proof'", "purpose = 'registration'"],
    ],
    [challenge({ slot: "262143" }), `purpose = 'proof', person_id = ${id(2)}`],
  );
});

test("the service's role changes neither what an invitation gives, nor whose a session or an account is", async () => {
  await expectRights(database, "invitations", { insert: true, update: "accepted_by ended_at" });
  await expectRights(database, "operator_invitations", { insert: true, update: "accepted_by ended_at" });
  await expectRights(database, "persons", {
    insert: true,
    update: "name password_hash totp_sealed totp_confirmed_at totp_used_step language time_zone closed_at",
  });
  const { rows } = await asOwner(database, (client) =>
    client.query(`select attname from pg_attribute
where attrelid = 'sessions'::regclass and attnum > 0 and not has_column_privilege('gerbang_service', attrelid, attnum, 'update')
order by attname`),
  );
  expect(rows.map(({ attname }: { attname: string }) => attname)).toEqual(["person_id", "session_id", "surface"]);
});
