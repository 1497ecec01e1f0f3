// Goal: a passkey signs in and proves by the portal's API, for its own person alone; a link signs in once.
// Method: browsers, as far as their requests go, with a device in software, on a real service.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Answer } from "../../../e2e/kit/client.ts";
import { SoftwareAuthenticator } from "../../test/authenticator.ts";
import { type TestService, asOwner, startService } from "../../test/kit.ts";
import { Browser, PASSWORD, joins } from "../../test/portal.ts";

const own = "/portal/v1/person/passkeys";
const session = "/portal/v1/session";

let service: TestService;
let merchantId: string;
let owner: Browser;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
});
afterAll(() => service.stop());
beforeEach(async () => {
  ({ merchantId } = await service.merchant());
  owner = await joins(service, merchantId);
});

const outcome = ({ status, json }: Answer): string => `${status} ${json?.error?.code ?? ""}`.trim();
const elsewhere = (): Browser => new Browser(service.origin, merchantId);
const ages = (): Promise<unknown> =>
  asOwner(service.database, (root) => root.query("update sessions set proved_at = proved_at - interval '11 minutes'"));

async function added(browser: Browser, name = "Phone"): Promise<SoftwareAuthenticator> {
  const device = new SoftwareAuthenticator(service.origin.replace("127.0.0.1", "localhost"));
  const options = (await browser.post(`${own}/options`)).json;
  const answer = await browser.post(own, { name, response: device.create(options) });
  if (answer.status !== 201) throw new Error(answer.text);
  return device;
}

describe("a passkey", () => {
  test("is added, listed, signs in by itself, and is removed", async () => {
    const device = await added(owner);
    const { data } = (await owner.get(own)).json;
    expect(data).toMatchObject([{ name: "Phone", used_at: null, synced: false }]);
    expect((await owner.get(session)).json.person.passkeys).toBe(1);

    const phone = elsewhere();
    const options = (await phone.post(`${session}/passkey/options`)).json;
    const answer = await phone.post(`${session}/passkey`, { response: device.get(options) });
    expect(answer.json).toMatchObject({ person: { email: owner.email }, memberships: [{ merchant_id: merchantId }] });
    expect((await phone.get(session)).status).toBe(200);
    expect((await owner.get(own)).json.data[0].used_at).not.toBeNull();

    expect((await owner.send("DELETE", `${own}/${data[0].passkey_id}`)).status).toBe(200);
    expect((await owner.get(own)).json.data).toEqual([]);
    const after = (await phone.post(`${session}/passkey/options`)).json;
    expect(outcome(await phone.post(`${session}/passkey`, { response: device.get(after) }))).toBe("401 UNAUTHORIZED");
  });

  test("takes what browsers send beside: nulls, and what the device is", async () => {
    const device = new SoftwareAuthenticator(service.origin.replace("127.0.0.1", "localhost"));
    const made = device.create((await owner.post(`${own}/options`)).json);
    const sent = { ...made, authenticatorAttachment: null, response: { ...made.response, publicKey: null } };
    expect((await owner.post(own, { name: "Laptop", response: sent })).status).toBe(201);
  });

  test("is made and removed only by who has just proved who they are", async () => {
    await added(owner);
    const { data } = (await owner.get(own)).json;
    await ages();
    expect(outcome(await owner.post(`${own}/options`))).toBe("403 PROOF_REQUIRED");
    expect(outcome(await owner.post(own, { name: "x", response: {} }))).toBe("403 PROOF_REQUIRED");
    expect(outcome(await owner.send("DELETE", `${own}/${data[0].passkey_id}`))).toBe("403 PROOF_REQUIRED");
    expect((await owner.get(own)).json.data).toHaveLength(1);
  });

  test("proves again who somebody is, and nobody else", async () => {
    const device = await added(owner);
    const other = await joins(service, merchantId, "viewer");
    expect(outcome(await other.post(`${session}/proof/passkey/options`))).toBe("422 VALIDATION_ERROR");
    await added(other, "Other");
    await ages();
    const foreign = (await other.post(`${session}/proof/passkey/options`)).json;
    expect(outcome(await other.post(`${session}/proof/passkey`, { response: device.get(foreign) }))).toBe(
      "401 UNAUTHORIZED",
    );
    const options = (await owner.post(`${session}/proof/passkey/options`)).json;
    expect((await owner.post(`${session}/proof/passkey`, { response: device.get(options) })).status).toBe(200);
    expect((await owner.post(`${own}/options`)).status).toBe(200);
  });

  test("of somebody else is not found", async () => {
    await added(owner);
    const [{ passkey_id: id }] = (await owner.get(own)).json.data;
    const other = await joins(service, merchantId, "owner");
    for (const sent of [id, "psk_1", "../person"])
      expect(outcome(await other.send("DELETE", `${own}/${encodeURIComponent(sent)}`))).toBe("404 OBJECT_NOT_FOUND");
    expect((await owner.get(own)).json.data).toHaveLength(1);
  });

  test.each([
    ["nothing", {}],
    ["a number", { response: 1 }],
    ["what is no base64url", { response: { id: "ä", rawId: "ä", type: "public-key" } }],
    ["more than anybody has", { response: { id: "A".repeat(2000) } }],
  ])("answers %s with a clear error", async (_name, body) => {
    expect(outcome(await elsewhere().post(`${session}/passkey`, body))).toBe("422 VALIDATION_ERROR");
  });

  test("that does not fit is refused, whatever it holds", async () => {
    const text = "AAAA";
    const response = { clientDataJSON: text, authenticatorData: text, signature: text, userHandle: null };
    const sent = { id: text, rawId: text, type: "public-key", clientExtensionResults: {}, response };
    expect(outcome(await elsewhere().post(`${session}/passkey`, { response: sent }))).toBe("401 UNAUTHORIZED");
  });
});

describe("a link", () => {
  test("signs its person in, once", async () => {
    const { person } = (await owner.get(session)).json;
    const { token } = await service.app.people.links.make(person.person_id, "sign_in");
    const browser = elsewhere();
    const answer = await browser.post(`${session}/link`, { token });
    expect(answer.json).toMatchObject({ person: { email: owner.email } });
    expect((await browser.get(session)).status).toBe(200);
    expect(outcome(await elsewhere().post(`${session}/link`, { token }))).toBe("401 UNAUTHORIZED");
    expect(outcome(await elsewhere().post(`${session}/link`, { token: "x" }))).toBe("401 UNAUTHORIZED");
  });

  test("that resets ends every session, and a password is chosen anew without the old one", async () => {
    const { person } = (await owner.get(session)).json;
    const { token } = await service.app.people.links.make(person.person_id, "reset");
    const browser = elsewhere();
    expect((await browser.post(`${session}/link`, { token })).json.person.has_password).toBe(false);
    expect(outcome(await owner.get(session))).toBe("401 UNAUTHORIZED");
    const next = "teh poci pagi hari 12";
    expect((await browser.send("PUT", "/portal/v1/person/password", { current: null, next })).status).toBe(200);
    expect(outcome(await elsewhere().post(session, { email: owner.email, password: PASSWORD }))).toBe(
      "401 UNAUTHORIZED",
    );
    expect((await elsewhere().post(session, { email: owner.email, password: next })).status).toBe(200);
  });
});
