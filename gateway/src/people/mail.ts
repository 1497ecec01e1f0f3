// Mail to persons, when a mail server is configured. Only the request that sends a letter waits for the server, and nothing depends on the delivery.
import type { Log } from "../ground/log.ts";

export interface MailParts {
  /** Address of the mail server: `smtp://` or `smtps://`, with user and password. */
  url: string;
  /** Sender of the letters. */
  from: string;
  log: Log;
}

interface Letter {
  to: string;
  subject: string;
  text: string;
}

const TIMEOUT_MS = 10_000;
const LOCAL = new Set(["127.0.0.1", "[::1]", "localhost"]);

export class Mail {
  private readonly parts: MailParts;

  constructor(parts: MailParts) {
    this.parts = parts;
  }

  /**
   * Hands a letter to the mail server. False when the server does not accept it within ten seconds; the log says why. To another machine, the letter
   * always goes over TLS.
   */
  async send({ to, subject, text }: Letter): Promise<boolean> {
    const { url, from, log } = this.parts;
    const { createTransport } = await import("nodemailer");
    const { protocol, hostname } = new URL(url);
    const transport = createTransport(url, {
      from,
      requireTLS: protocol === "smtp:" && !LOCAL.has(hostname),
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      // Letters are plain text: the library must not read files or addresses that a letter names.
      disableFileAccess: true,
      disableUrlAccess: true,
    } as never);
    try {
      await transport.sendMail({ to: { name: "", address: to }, subject: subject.replaceAll(/\s+/g, " "), text });
      return true;
    } catch (error) {
      log.warn({ err: error }, "a letter was not taken by the mail server");
      return false;
    } finally {
      transport.close();
    }
  }
}

/** The letter that invites a person to a merchant. */
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
