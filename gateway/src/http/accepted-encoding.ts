// The encodings that a client accepts (RFC 9110, section 12.5.3).
import type { FastifyRequest } from "fastify";

/** True where the request names the encoding and does not refuse it by a weight of 0. */
export function accepts(request: Pick<FastifyRequest, "headers">, encoding: "br" | "gzip"): boolean {
  return (request.headers["accept-encoding"] ?? "").split(",").some((part) => {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
