// `gerbang serve` with shorter times, as a program: quick-service.ts '{"guardMs":200}' [--role api|worker]. For tests alone.
import { type ServeTiming, serveCommand } from "../../gateway/src/cli/serve.ts";
import { type DeliveryTiming, deliveryTiming } from "../../gateway/src/webhooks/timing.ts";

/** Of delivering only what differs from the usual. */
export interface QuickTiming extends Omit<ServeTiming, "delivery"> {
  delivery?: Partial<DeliveryTiming>;
}

if (import.meta.main) {
  const [given = "{}", option, value] = process.argv.slice(2);
  const { delivery, ...timing } = JSON.parse(given) as QuickTiming;
  const role = option === "--role" && (value === "api" || value === "worker") ? value : undefined;
  process.exitCode = await serveCommand({ role }, { ...timing, delivery: { ...deliveryTiming, ...delivery } });
}
