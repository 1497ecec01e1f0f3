// Mail to persons, when a mail server is configured. Only the request that sends a letter waits for the server, and nothing depends on the delivery.
import type { Log } from "../ground/log.ts";
import { REDACTED } from "../ground/redact.ts";

interface MailParts {
  /** Address of the mail server: `smtp://` or `smtps://`, with user and password. */
  url: string;
  from: string;
  log: Log;
  /** For how long a letter may take, in milliseconds; ten seconds when undefined. */
  limitMs?: number | undefined;
}

interface Letter {
  to: string;
  subject: string;
  text: string;
}

const LIMIT_MS = 10_000;
const LOCAL = new Set(["127.0.0.1", "[::1]", "localhost"]);

type Auth = Record<"user" | "pass", string>;

/** An error without the password and the secrets of links: some servers repeat in their answer what they refuse. */
function withoutSecrets(error: NodeJS.ErrnoException, auth: Auth | undefined): Error {
  const { user, pass } = auth ?? { user: "", pass: "" };
  const encoded = [pass, `\0${user}\0${pass}`].map((text) => Buffer.from(text).toString("base64"));
  const secrets = [/#[\w-]{20,}/g, ...(pass === "" ? [] : [...encoded, pass])];
  const message = secrets.reduce<string>((text, secret) => text.replaceAll(secret, REDACTED), error.message);
  return Object.assign(new Error(message), { code: error.code });
}

export class Mail {
  private readonly parts: MailParts;

  constructor(parts: MailParts) {
    this.parts = parts;
  }

  /**
   * Hands a letter to the mail server. False when the server does not accept it within ten seconds; the log says why. To another machine, the letter
   * and the password always go over TLS with a certificate that verifies.
   */
  async send({ to, subject, text }: Letter): Promise<boolean> {
    const { url, from, log, limitMs = LIMIT_MS } = this.parts;
    const { createTransport } = await import("nodemailer");
    const { protocol, hostname, port, username, password } = new URL(url);
    const isLocal = LOCAL.has(hostname);
    let auth: Auth | undefined;
    try {
      if (username !== "") auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
      const transport = createTransport({
        host: hostname.replaceAll(/^\[|\]$/g, ""),
        ...(port === "" ? {} : { port: Number(port) }),
        secure: protocol === "smtps:",
        requireTLS: !isLocal,
        // A relay on this machine often has a certificate that names nobody, and no network to be safe from.
        tls: { rejectUnauthorized: !isLocal },
        ...(auth && { auth }),
        // Letters are plain text: the library must not read files or addresses that a letter names.
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      const letter = { from, to: { name: "", address: to }, subject: subject.replaceAll(/\s+/g, " "), text };
      await transport.sendMail({ ...letter, signal: AbortSignal.timeout(limitMs) });
      return true;
    } catch (error) {
      log.warn({ err: withoutSecrets(error as Error, auth) }, "a letter was not taken by the mail server");
      return false;
    }
  }
}

export function invitationLetter(
  to: string,
  { merchantName, serviceName, url }: { merchantName: string; serviceName: string; url: string },
): Letter {
  return {
    to,
    subject: `You are invited to ${merchantName}`,
    text: [
      `You are invited to work for ${merchantName} in the portal of ${serviceName}.`,
      `Open this link to accept. It is good for seven days, once:`,
      url,
      "If you do not know why you get this, leave it alone: nothing happens.",
    ].join("\n\n"),
  };
}
