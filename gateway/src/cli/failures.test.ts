// Goal: what a person can put right is told in a sentence, and what they cannot keeps its stack. Method: errors as the system and the driver make them.
import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { expect, test } from "vitest";
import { ConfigError } from "../ground/config.ts";
import { explain } from "./failures.ts";

/** An error with the fields that the system gives it. */
const failed = (fields: Record<string, unknown>, message = "it failed"): Error =>
  Object.assign(new Error(message), fields);

test.each([
  [failed({ code: "EACCES", syscall: "listen", port: 80, address: "0.0.0.0" }), "may not listen on 0.0.0.0:80"],
  [failed({ code: "EADDRNOTAVAIL", syscall: "listen", port: 1, address: "192.0.2.1" }), "has no address 192.0.2.1"],
  [failed({ code: "ETIMEDOUT", syscall: "connect", port: 5432, address: "192.0.2.1" }), "cannot be reached"],
  [failed({ code: "EACCES", syscall: "mkdir", path: "/srv/data" }), "/srv/data cannot be used: this user may not"],
  [failed({ code: "EROFS", syscall: "open", path: "/srv/data" }), "its file system is read-only"],
  [failed({ code: "ENOSPC", syscall: "write", path: "/srv/data" }), "the disk is full"],
  [failed({ code: "ENOSPC", syscall: "write" }), "GERBANG_DATA cannot be written: the disk is full"],
  [
    failed({ code: "EPIPE", syscall: "write" }, "write EPIPE"),
    "PostgreSQL of DATABASE_URL did not answer in time, or hung up",
  ],
  [failed({ code: "SELF_SIGNED_CERT_IN_CHAIN" }, "self-signed certificate"), "sslrootcert"],
  [
    failed({ code: "ERR_TLS_CERT_ALTNAME_INVALID" }, "Host: db. is not in the cert's altnames"),
    "has to name the server as",
  ],
  [
    failed({ code: "CERT_HAS_EXPIRED" }, "certificate has expired"),
    "certificate has expired. Give the server another one",
  ],
  [
    failed({ code: "42P05", severity: "ERROR" }, 'prepared statement "x" already exists'),
    "max_prepared_statements above 0",
  ],
  [
    failed({ code: "08P01", severity: "FATAL" }, "transaction blocks not allowed in statement pooling mode"),
    "pool_mode transaction or session",
  ],
  [failed({ code: "53300", severity: "FATAL" }, "sorry, too many clients already"), "max_connections"],
  [failed({ code: "42501", severity: "ERROR" }, "permission denied for table payments"), "gerbang roles --sql"],
  [failed({ code: "25006", severity: "ERROR" }, "cannot execute INSERT in a read-only transaction"), "replica"],
  [new ConfigError("PORT: must be a port number"), "PORT: must be a port number"],
])("%s is explained", (error, words) => expect(explain(error)).toContain(words));

test("each address of a host that refuses is one failure, and so is what wraps it", () => {
  const refused = failed({ code: "ECONNREFUSED", syscall: "connect", address: "::1", port: 5432 });
  expect(explain(new AggregateError([refused, refused]))).toContain("Nothing answers at ::1:5432");
  expect(explain(new Error("no start", { cause: refused }))).toContain("Nothing answers at ::1:5432");
});

test("the system's own errors are the ones that are explained", async () => {
  expect(explain(thrown(() => mkdirSync(`${import.meta.filename}/folder`, { recursive: true })))).toContain(
    "in its way",
  );
  const first = createServer().listen(0, "127.0.0.1");
  await once(first, "listening");
  const address = first.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const error: unknown = await once(createServer().listen(port, "127.0.0.1"), "listening").catch(
    (reason: unknown) => reason,
  );
  first.close();
  expect(explain(error)).toContain(`Port ${port} of 127.0.0.1 is taken`);
});

test("what is the program's own mistake is not explained away", () => {
  for (const error of [
    new TypeError("x is not a function"),
    failed({ code: "23505", severity: "ERROR" }, "duplicate key"),
    failed({ code: "42601", severity: "ERROR" }, "syntax error"),
    failed({ code: "ERR_ASSERTION" }),
    thrown(() => readFileSync(`${import.meta.dirname}/nothing`)),
    "a text",
    undefined,
  ])
    expect(explain(error)).toBeUndefined();
});

function thrown(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
