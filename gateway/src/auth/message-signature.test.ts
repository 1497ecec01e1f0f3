// Goal: a request signed by RFC 9421 is accepted exactly when its client signed this very request. Method: the standard's own vector; tables
// of what may be covered and what is malformed; a published library that signs; properties in which any one thing is changed.
import fc from "fast-check";
import { createSigner, httpbis } from "http-message-signatures";
import { describe, expect, test } from "vitest";
import { signMessage } from "../../../e2e/kit/message-signer.ts";
import { NOW } from "../../test/given.ts";
import {
  COMPONENTS,
  ID,
  NONCE,
  PARAMETERS,
  type Request,
  SECRET,
  messageOf,
  request,
  seconds,
  signed,
} from "../../test/messages.ts";
import { SigningKey } from "../ground/signing-key.ts";
import { Fault } from "../ground/fault.ts";
import { innerListText, parseDictionary } from "../ground/structured-fields.ts";
import { contentDigest } from "./content-digest.ts";
import { baseText, readSignature, signBase, verifyMessage } from "./message-signature.ts";
import { type SignedMessage, addressOf, componentValue } from "./signed-message.ts";

const client = { clientId: ID, key: new SigningKey(SECRET) };

/** "good", or the code of the refusal and what its message is about. */
function judged(it: Request, realNow = NOW, clientId = ID): string {
  const { "signature-input": signatureInput = "", signature = "" } = it.headers;
  try {
    const found = verifyMessage(
      { ...client, clientId },
      { clientId, signatureInput, signature },
      messageOf(it),
      Buffer.from(it.body),
      realNow,
    );
    expect(found).toEqual({ created: expect.any(Number), nonce: expect.stringMatching(/^.{16,64}$/) });
    return "good";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const [, subject] = /^RFC 9421: `([^`]*)`/.exec(error.message) ?? [];
    return subject === undefined ? error.code : `${error.code} ${subject}`;
  }
}

const invalid = (subject?: string): string =>
  subject === undefined ? "SIGNATURE_INVALID" : `SIGNATURE_INVALID ${subject}`;

test("RFC 9421, appendix B.2.5: hmac-sha256 with the shared secret of the standard", () => {
  const secret = Buffer.from(
    "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==",
    "base64",
  );
  const message: SignedMessage = {
    method: "POST",
    target: "/foo?param=Value&Pet=dog",
    publicRoot: undefined,
    headers: {
      host: ["example.com"],
      date: ["Tue, 20 Apr 2021 02:07:55 GMT"],
      "content-type": ["application/json"],
    },
  };
  const input = '("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"';
  const bounds = { characters: 400, members: 1, itemsOfList: 4, parameters: 4 };
  const member = parseDictionary(`sig-b25=${input}`, bounds)?.get("sig-b25");
  if (member?.kind !== "list") throw new Error("not a list");
  const names = member.list.items.map(({ bare }) => String(bare.value));
  const components = names.map((name): [string, string] => [
    name,
    componentValue(message, addressOf(message), name) ?? "",
  ]);
  const base = baseText(components, innerListText(member.list));
  expect(base).toBe(`"date": Tue, 20 Apr 2021 02:07:55 GMT
"@authority": example.com
"content-type": application/json
"@signature-params": ${input}`);
  expect(signBase(new SigningKey(secret), base).toString("base64")).toBe(
    "pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=",
  );
});

describe("what must and may be covered", () => {
  const of = (...components: string[]): string => judged(signed(request(), { components }));
  const more = (...components: string[]): string => of(...COMPONENTS, ...components);

  test.each([
    ["all that must be", () => of(...COMPONENTS), "good"],
    ["in another order", () => of(...COMPONENTS.toReversed()), "good"],
    ["more of the request", () => more("@authority", "@scheme", "@path", "@query", "@request-target"), "good"],
    ["more headers", () => more("content-type", "host"), "good"],
    ["nothing", () => of(), invalid("@method")],
    ["not the method", () => of(...COMPONENTS.slice(1)), invalid("@method")],
    ["not the address", () => of("@method", "content-digest", "idempotency-key"), invalid("@target-uri")],
    ["the path alone", () => of("@method", "@path", "content-digest", "idempotency-key"), invalid("@target-uri")],
    ["not the digest", () => of("@method", "@target-uri", "idempotency-key"), invalid("content-digest")],
    ["not the key that was sent", () => of("@method", "@target-uri", "content-digest"), invalid("idempotency-key")],
    ["one twice", () => more("@method"), invalid("@method")],
    ["a header twice", () => more("content-type", "content-type"), invalid("content-type")],
    ["a header that was not sent", () => more("date"), invalid("date")],
    ["a header by its name in capitals", () => more("Content-Type"), invalid("Content-Type")],
    ["the status of an answer", () => more("@status"), invalid("@status")],
    ["a part of the query", () => more("@query-param"), invalid("@query-param")],
    ["the parameters themselves", () => more("@signature-params"), invalid("@signature-params")],
    ["a name with a space", () => more("a b"), invalid("a b")],
    ["the prototype of headers", () => more("constructor"), invalid("constructor")],
    ["sixteen", () => more("host", "content-type", "@authority", "@scheme", "@path", "@query"), "good"],
  ])("%s", (_name, work, expected) => {
    expect(work()).toBe(expected);
  });

  test.each(["sf", 'key="a"', "bs", "req", "tr", 'name="a"', "x=1"])("no component with ;%s", (parameter) => {
    const it = signed(request());
    const input = (it.headers["signature-input"] ?? "").replace('"content-digest"', `"content-digest";${parameter}`);
    expect(judged({ ...it, headers: { ...it.headers, "signature-input": input } })).toBe(invalid("content-digest"));
  });

  test("seventeen components are malformed, and so is a component that is no text", () => {
    const many = Array.from({ length: 17 }, (_, index) => `x-${index}`);
    expect(judged(signed(request(), { components: many }))).toBe(invalid("signature-input"));
    const it = signed(request());
    for (const component of ["method", "1.5", "?1", ":AAAA:"]) {
      const input = (it.headers["signature-input"] ?? "").replace('"@method"', component);
      expect(judged({ ...it, headers: { ...it.headers, "signature-input": input } })).toBe(invalid(component));
    }
  });

  test("without Idempotency-Key it need not be covered, and an empty one is one", () => {
    const { "idempotency-key": _, ...headers } = request().headers;
    const components = COMPONENTS.slice(0, 3);
    expect(judged(signed(request({ headers }), { components }))).toBe("good");
    expect(judged(signed(request({ headers: { ...headers, "idempotency-key": "" } }), { components }))).toBe(
      invalid("idempotency-key"),
    );
  });

  test("several lines of a header are joined, without the white space around them", () => {
    const components = [...COMPONENTS.slice(0, 3), "x-many"];
    const { "idempotency-key": _, ...headers } = request().headers;
    const it = signed(request({ headers: { ...headers, "x-many": "a, b  c" } }), { components });
    const message = messageOf(it);
    const { "signature-input": signatureInput = "", signature = "" } = it.headers;
    const verify = (lines: string[]): unknown =>
      verifyMessage(
        client,
        { clientId: ID, signatureInput, signature },
        { ...message, headers: { ...message.headers, "x-many": lines } },
        Buffer.from(it.body),
        NOW,
      );
    expect(verify([" a", "b  c\t "])).toEqual({ created: seconds, nonce: NONCE });
    expect(() => verify(["b  c", "a"])).toThrow(Fault);
    expect(() => verify(["a, b  c\xa0"])).toThrow("beyond ASCII");
  });
});

describe("parameters", () => {
  const keyid = `;keyid="${ID}"`;
  const nonce = `;nonce="${NONCE}"`;
  const created = `;created=${seconds}`;
  const late = "TIMESTAMP_OUT_OF_WINDOW";
  test.each([
    ["as documented", created + keyid + nonce, "good"],
    ["in another order", nonce + created + keyid, "good"],
    ["the algorithm", `${PARAMETERS};alg="hmac-sha256"`, "good"],
    ["another algorithm", `${PARAMETERS};alg="rsa-pss-sha512"`, invalid("alg")],
    ["the algorithm in capitals", `${PARAMETERS};alg="HMAC-SHA256"`, invalid("alg")],
    ["the algorithm as a token", `${PARAMETERS};alg=hmac-sha256`, invalid("alg")],
    ["no algorithm at all", `${PARAMETERS};alg=""`, invalid("alg")],
    ["unknown ones", `${PARAMETERS};tag="gerbang";x;y=1.5;z=:AAAA:`, "good"],
    ["an unknown one that is true, spelt out", `${PARAMETERS};x=?1`, invalid()], // signed in another spelling than the standard's
    ["no created", keyid + nonce, invalid("created")],
    ["created as a text", `;created="${seconds}"${keyid}${nonce}`, invalid("created")],
    ["created with a fraction", `;created=${seconds}.5${keyid}${nonce}`, invalid("created")],
    ["created below zero", `;created=-1${keyid}${nonce}`, late],
    ["created in milliseconds", `;created=${seconds}000${keyid}${nonce}`, late],
    ["301 seconds ago", `;created=${seconds - 301}${keyid}${nonce}`, late],
    ["301 seconds ahead", `;created=${seconds + 301}${keyid}${nonce}`, late],
    ["exactly 300 seconds ago", `;created=${seconds - 300}${keyid}${nonce}`, "good"],
    ["exactly 300 seconds ahead", `;created=${seconds + 300}${keyid}${nonce}`, "good"],
    ["expires now", `${PARAMETERS};expires=${seconds}`, "good"],
    ["expired a second ago", `${PARAMETERS};expires=${seconds - 1}`, late],
    ["expires as a text", `${PARAMETERS};expires="${seconds}"`, invalid("expires")],
    ["no keyid", created + nonce, invalid("keyid")],
    ["another's keyid", `${created};keyid="${ID.slice(0, -1)}0"${nonce}`, invalid("keyid")],
    ["keyid in capitals", `${created};keyid="${ID.toUpperCase()}"${nonce}`, invalid("keyid")],
    ["keyid as a token", `${created};keyid=${ID}${nonce}`, invalid("keyid")],
    ["no nonce", created + keyid, invalid("nonce")],
    ["a nonce of 15 characters", `${created}${keyid};nonce="${"n".repeat(15)}"`, invalid("nonce")],
    ["a nonce of 16", `${created}${keyid};nonce="${"n".repeat(16)}"`, "good"],
    ["a nonce of 64", `${created}${keyid};nonce="${"n".repeat(64)}"`, "good"],
    ["a nonce of 65", `${created}${keyid};nonce="${"n".repeat(65)}"`, invalid("nonce")],
    ["a nonce of 15 and an escape", String.raw`${created}${keyid};nonce="${"n".repeat(14)}\""`, invalid("nonce")],
    ["a nonce that is a number", `${created}${keyid};nonce=123456789012345`, invalid("nonce")],
    ["a nonce of bytes", `${created}${keyid};nonce=:${"A".repeat(24)}:`, invalid("nonce")],
    ["one twice", `${PARAMETERS};created=${seconds}`, invalid("signature-input")],
  ])("%s", (_name, parameters, expected) => {
    expect(judged(signed(request(), { parameters }))).toBe(expected);
    expect(judged(signed(request(), { parameters }), NOW + 999_999)).toBe(expected);
  });

  test("a signature that a stranger made is refused for its time before it is refused for itself", () => {
    const old = `;created=1${keyid}${nonce}`;
    expect(judged(signed(request(), { parameters: old, secret: "x" }))).toBe(late);
    expect(judged(signed(request(), { secret: "x" }))).toBe(invalid());
    expect(judged(signed(request(), { secret: ID }))).toBe(invalid());
  });

  test("a time out of the window prevails over everything else that is wrong, where the time can be read", () => {
    const old = `;created=${seconds - 301}${keyid}`;
    expect(judged(signed(request(), { parameters: old }))).toBe(late);
    expect(judged(signed(request(), { parameters: `${old}${nonce};alg="md5"` }))).toBe(late);
    expect(judged(signed(request(), { parameters: old + nonce, components: ["@method"] }))).toBe(late);
    expect(judged(signed(request(), { parameters: `${created}${keyid};expires=${seconds - 1}` }))).toBe(late);
    const it = signed(request(), { parameters: old + nonce });
    expect(judged({ ...it, headers: { ...it.headers, signature: "sig=:AAAA:" } })).toBe(late);
    expect(judged({ ...it, headers: { ...it.headers, signature: "other=:AAAA:" } })).toBe(late);
  });
});

describe("labels", () => {
  const whole = signed(request());
  const { "signature-input": input = "", signature = "" } = whole.headers;
  const having = (changes: Record<string, string>): string =>
    judged({ ...whole, headers: { ...whole.headers, ...changes } });
  const other = '("@method");created=1;keyid="somebody-else";alg="ed25519"';

  test.each([
    [
      "a name of its own",
      { "signature-input": `gateway${input.slice(4)}`, signature: `gateway${signature.slice(4)}` },
      "good",
    ],
    [
      "beside a proxy's own signature",
      { "signature-input": `proxy=${other}, ${input}`, signature: `proxy=:AAAA:, ${signature}` },
      "good",
    ],
    ["beside one without a signature", { "signature-input": `proxy=${other}, ${input}` }, "good"],
    [
      "beside one whose components have parameters",
      { "signature-input": `proxy=("@status" "@method";req);created=1, ${input}`, signature },
      "good",
    ],
    ["the signature of another label", { signature: signature.replace("sig1", "sig2") }, invalid("sig1")],
    ["another's list alone", { "signature-input": `sig1=${other}` }, invalid("keyid")],
    ["two of this client", { "signature-input": `${input}, ${input.replace("sig1", "sig2")}` }, invalid("keyid")],
    ["five", { "signature-input": `a=(), b=(), c=(), d=(), ${input}` }, invalid("signature-input")],
    ["one label twice", { "signature-input": `${input}, ${input}` }, invalid("signature-input")],
    ["a signature twice", { signature: `${signature}, ${signature}` }, invalid("signature")],
    ["no list", { "signature-input": "sig1=1" }, invalid("signature-input")],
    ["no list beside one", { "signature-input": `${input}, proxy=1` }, invalid("signature-input")],
    ["nothing", { "signature-input": "" }, invalid("signature-input")],
    ["no signature", { signature: "" }, invalid("signature")],
    ["a signature that is a text", { signature: signature.replaceAll(":", '"') }, invalid("sig1")],
    ["a signature that is a list", { signature: signature.replace("=:", "=(:").concat(")") }, invalid("sig1")],
    ["a signature of 31 bytes", { signature: `sig1=:${Buffer.alloc(31).toString("base64")}:` }, invalid("sig1")],
    ["a signature of no bytes", { signature: "sig1=::" }, invalid("sig1")],
    [
      "a signature in hexadecimal",
      { signature: `sig1=:${Buffer.from("0".repeat(64)).toString("base64")}:` },
      invalid("sig1"),
    ],
    ["a signature without its colons", { signature: signature.replaceAll(":", "") }, invalid("signature")],
    [
      "headers of five thousand characters",
      { signature: `${signature}, x="${"x".repeat(5_000)}"` },
      invalid("signature"),
    ],
    ["sixteen thousand brackets", { "signature-input": "(".repeat(16_000) }, invalid("signature-input")],
  ])("%s", (_name, changes, expected) => {
    expect(having(changes as Record<string, string>)).toBe(expected);
  });
});

describe("the address", () => {
  const at = (changes: Partial<Request>, as: Partial<Request>): string => {
    const { headers } = signed(request(changes));
    return judged({ ...request(changes), headers, ...as });
  };
  const absolute = "https://pay.test/v1/payments";

  test.each<[string, Partial<Request>, Partial<Request>, string]>([
    ["is that of the configuration, whatever Host says", {}, {}, "good"],
    ["is that of Host where none is configured", { publicRoot: undefined }, {}, "good"],
    ["in absolute form is itself", { target: absolute }, {}, "good"],
    [
      "in absolute form is not that in origin form, spelt otherwise",
      { target: absolute },
      { target: "/v1/%70ayments" },
      invalid(),
    ],
    ["in absolute form must be ours", { target: "https://evil.test/v1/payments" }, {}, invalid("@target-uri")],
    [
      "in absolute form of another scheme is not ours",
      { target: "http://pay.test/v1/payments" },
      {},
      invalid("@target-uri"),
    ],
    ["has its query", { target: "/v1/payments?limit=5" }, {}, "good"],
    ["of another query is another", { target: "/v1/payments?limit=5" }, { target: "/v1/payments?limit=6" }, invalid()],
    ["with an empty query is another", {}, { target: "/v1/payments?" }, invalid()],
    ["keeps its escapes as they were sent", { target: "/v1/%70ayments" }, {}, "good"],
    ["in another spelling is another", {}, { target: "/v1/%70ayments" }, invalid()],
    ["of another host is another", { publicRoot: undefined }, { publicRoot: "http://evil.test" }, invalid()],
    ["of another scheme is another", { publicRoot: "http://pay.test" }, { publicRoot: "https://pay.test" }, invalid()],
    ["has no fragment", { target: "/v1/payments#x" }, {}, invalid("@target-uri")],
    ["with a prefix of the configuration", { publicRoot: "https://pay.test/gateway" }, {}, "good"],
  ])("%s", (_name, changes, as, expected) => {
    expect(at(changes, as)).toBe(expected);
  });
});

test("a body is held against its digest, of a read without one too", () => {
  const it = signed(request());
  expect(judged({ ...it, body: `${it.body} ` })).toBe(invalid("content-digest"));
  const read = signed(request({ method: "GET", body: "" }));
  expect(judged(read)).toBe("good");
  expect(judged({ ...read, body: "{}" })).toBe(invalid("content-digest"));
  const unknown = signed(request({ headers: { ...request().headers, "content-digest": "sha-384=:AAAA:" } }));
  expect(judged(unknown)).toBe(invalid("content-digest"));
});

const ascii = fc.stringMatching(/^[!-~]{1,30}$/);
const targets = fc.stringMatching(/^\/v1\/[\w.~!$&'()*+,;=:@/%-]{0,30}(\?[\w.~=&%-]{0,20})?$/);

test("what a published library signs is good", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("GET", "POST", "PUT"),
      fc.webPath().map((path) => new URL(`https://pay.test/v1${path}`)),
      fc.string({ unit: "grapheme" }),
      ascii,
      fc.uuid(),
      fc.shuffledSubarray(["@authority", "@scheme", "@path", "@query", "@request-target", "content-type"]),
      async (method, { href: url, pathname, search }, body, key, nonce, more) => {
        const target = pathname + search;
        const headers = {
          "content-digest": contentDigest(body),
          "idempotency-key": key,
          "content-type": "application/json",
        };
        const message = await httpbis.signMessage(
          {
            key: createSigner(SECRET, "hmac-sha256", ID),
            fields: [...COMPONENTS, ...more],
            params: ["created", "keyid", "nonce", "alg", "expires"],
            paramValues: { nonce, created: new Date(seconds * 1000), expires: new Date(seconds * 1000 + 60_000) },
          },
          { method, url, headers },
        );
        const sent = Object.entries(message.headers).map(([name, value]) => [name.toLowerCase(), value]);
        const it = request({ method, target, body, headers: Object.fromEntries(sent) as Record<string, string> });
        expect(judged(it)).toBe("good");
        expect(judged({ ...it, method: `${method}X` })).toBe(invalid());
      },
    ),
    { numRuns: 200 },
  );
});

test("what the client of the tests signs is good", () => {
  const body = "{}";
  const headers = signMessage({
    clientId: ID,
    secret: SECRET,
    method: "POST",
    url: "https://pay.test/v1/refunds?x=1",
    body,
    created: seconds,
    headers: { "Idempotency-Key": "key-1" },
  });
  expect(judged(request({ target: "/v1/refunds?x=1", body, headers }))).toBe("good");
});

test("whatever is signed is good, and with any one byte changed it is not", () => {
  const mutable = fc.constantFrom("method", "target", "body", "idempotency-key", "nonce", "created", "signature");
  fc.assert(
    fc.property(targets, fc.string(), ascii, mutable, fc.nat(), (target, body, key, part, pick) => {
      const headers = { host: "shop.test", "idempotency-key": key };
      const it = signed(request({ target, body, headers }));
      expect(judged(it)).toBe("good");
      const changed = (text: string): string => {
        const at = text.length === 0 ? 0 : pick % text.length;
        const code = text.charCodeAt(at);
        return text.slice(0, at) + (code === 0x61 ? "b" : "a") + text.slice(at + 1);
      };
      const withHeader = (name: string, value: string): Request => ({
        ...it,
        headers: { ...it.headers, [name]: value },
      });
      const input = it.headers["signature-input"] ?? "";
      const mutants: Record<string, () => Request> = {
        method: () => ({ ...it, method: changed(it.method) }),
        target: () => ({ ...it, target: `/${changed(it.target.slice(1))}` }),
        body: () => ({ ...it, body: changed(it.body) }),
        "idempotency-key": () => withHeader("idempotency-key", changed(key)),
        nonce: () => withHeader("signature-input", input.replace(NONCE, changed(NONCE))),
        created: () => withHeader("signature-input", input.replace(`${seconds}`, `${seconds + 1 + (pick % 300)}`)),
        signature: () => {
          const bytes = Buffer.from((it.headers.signature ?? "").slice("sig1=:".length, -1), "base64");
          const at = pick % bytes.length;
          bytes[at] = (bytes[at] ?? 0) ^ (1 << (pick % 8));
          return withHeader("signature", `sig1=:${bytes.toString("base64")}:`);
        },
      };
      expect(judged((mutants[part] as () => Request)())).toMatch(/^SIGNATURE_INVALID/);
    }),
    { numRuns: 1_000 },
  );
});

test("whatever the headers say, the answer is a refusal", () => {
  const part = fc.constantFrom(
    "sig1=",
    "(",
    ")",
    '"@method"',
    '"x"',
    ";created=1",
    ";keyid=",
    `"${ID}"`,
    ", ",
    ":AAAA:",
    " ",
    "a",
  );
  const header = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.array(part, { maxLength: 20 }).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(header, header, header, (input, signature, digest) => {
      const headers = { "signature-input": input, signature, "content-digest": digest };
      expect(judged(request({ headers }))).toMatch(/^(SIGNATURE_INVALID|TIMESTAMP_OUT_OF_WINDOW)/);
    }),
  );
});

test("no message of a refusal holds more than a name of what was sent", () => {
  const { headers } = signed(request(), { components: [...COMPONENTS, "x".repeat(64)] });
  const claim = { clientId: ID, signatureInput: headers["signature-input"] ?? "", signature: headers.signature ?? "" };
  expect(readSignature(messageOf(request()), claim)).toMatchObject({
    objection: { problem: "component_absent", subject: "content-digest" },
  });
});
