// A program for tests: `gerbang serve` with shorter times. Usage: quick-service.ts '{"guardMs":200}' [--role api|worker].
import { type ServeTiming, serveCommand } from "../../gateway/src/cli/serve.ts";
import { type DeliveryTiming, deliveryTiming } from "../../gateway/src/webhooks/timing.ts";

/** Changed times; of webhook deliveries only those that differ from the usual ones. */
export interface QuickTiming extends Omit<ServeTiming, "delivery"> {
  delivery?: Partial<DeliveryTiming>;
}

if (import.meta.main) {
  const [given = "{}", option, value] = process.argv.slice(2);
  const { delivery, ...timing } = JSON.parse(given) as QuickTiming;
  const role = option === "--role" && (value === "api" || value === "worker") ? value : undefined;
  process.exitCode = await serveCommand({ role }, { ...timing, delivery: { ...deliveryTiming, ...delivery } });
}
