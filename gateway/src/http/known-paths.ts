// The routes of a server with their methods, so that a known path with another method differs from an unknown path.
import type { FastifyInstance } from "fastify";
import { Fault } from "../ground/fault.ts";

export class KnownPaths {
  private readonly methods = new Map<string, Set<string>>();
  private readonly patterns = new Map<string, RegExp>();

  /** Notes every route that is added to the server from now on. */
  watch(server: FastifyInstance): void {
    server.addHook("onRoute", ({ url, method }) => {
      const known = this.methods.get(url) ?? new Set();
      for (const one of Array.isArray(method) ? method : [method]) known.add(one);
      this.methods.set(url, known);
      this.patterns.set(url, new RegExp(`^${url.replaceAll(/:\w+/g, "[^/]+")}$`));
    });
  }

  /** METHOD_NOT_ALLOWED for a known path, with the methods that it has; else ROUTE_NOT_FOUND. */
  faultFor(target: string): Fault {
    const [path = ""] = target.split(/[?#]/, 1);
    const allow = [...this.patterns].flatMap(([url, pattern]) =>
      pattern.test(path) ? [...(this.methods.get(url) ?? [])] : [],
    );
    return allow.length === 0
      ? new Fault("ROUTE_NOT_FOUND")
      : new Fault("METHOD_NOT_ALLOWED", { allow: [...new Set(allow)].sort() });
  }
}
