// Which environment's payouts a page shows, as its address says, and the way to the other one's.
import { useQueryText } from "../../../address.ts";
import { classes } from "../../../ui/classes.ts";
import { To } from "../../../ui/link.tsx";
import type { Schema } from "../../api/client.ts";

type Environment = Schema<"Environment">;
const environments: readonly Environment[] = ["production", "sandbox"];

/** `?environment=sandbox`; production when it names none. */
export function useEnvironment(): Environment {
  return useQueryText().environment === "sandbox" ? "sandbox" : "production";
}

export function EnvironmentSwitch({ of, to }: { of: Environment; to: (environment: Environment) => string }) {
  return (
    <nav aria-label="Environment" data-environment={of} className="flex gap-1">
      {environments.map((environment) => (
        <To
          key={environment}
          to={to(environment)}
          aria-current={environment === of ? "page" : undefined}
          className={classes(
            "inline-flex min-h-8 items-center rounded border px-3",
            environment === of
              ? "border-line bg-panel font-medium"
              : "border-transparent text-muted hover:bg-hover hover:text-ink",
          )}
        >
          {environment}
        </To>
      ))}
    </nav>
  );
}
