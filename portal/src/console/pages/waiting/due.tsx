// When something runs out. A sandbox's clock may be ahead of real time by an amount that is not known here, so its items show the date alone.
import { Time, TimeFromNow } from "../../../ui/time.tsx";

export function Due({ at, environment }: { at: string; environment: string | null | undefined }) {
  return environment === "sandbox" ? <Time at={at} shape="minute" /> : <TimeFromNow at={at} />;
}
