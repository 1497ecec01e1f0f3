// GET /.well-known/security.txt (RFC 9116): the address for reports of vulnerabilities in this installation.
import type { FastifyInstance } from "fastify";
import { type Clock, SECOND, wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { sendReply } from "./server.ts";

const PATH = "/.well-known/security.txt";
/** RFC 9116 recommends less than a year. */
const EXPIRES = 180 * 86_400 * SECOND;

interface SecurityTxtParts {
  clock: Clock;
  /** A mailto: or https: address; undefined when there is none, and then the path answers ROUTE_NOT_FOUND. */
  contact: string | undefined;
  /** Base address of the service without /v1. */
  root: () => string;
}

export function openSecurityTxt(server: FastifyInstance, { clock, contact, root }: SecurityTxtParts): void {
  server.get(PATH, (_request, reply) => {
    if (contact === undefined) throw new Fault("ROUTE_NOT_FOUND");
    const lines = [
      `Contact: ${contact}`,
      `Expires: ${wireTime(clock.now() + EXPIRES)}`,
      "Preferred-Languages: en, id",
      `Canonical: ${root()}${PATH}`,
    ];
    return sendReply(reply, { status: 200, body: `${lines.join("\n")}\n`, contentType: "text/plain; charset=utf-8" });
  });
}
