// In which batch a refund or a lost dispute was deducted from a payout.
import { useCan, usePlace } from "../../api/place.ts";
import { paths } from "../../paths.ts";
import { Fact } from "../../ui/facts.tsx";
import { To } from "../../ui/link.tsx";

export function Deducted({ in: uuid }: { in: string | null }) {
  const place = usePlace();
  const can = useCan();
  return (
    <Fact name="Deducted from">
      {uuid === null ? (
        "no payout yet"
      ) : can("settlements:read") ? (
        <To to={paths.settlement(place, uuid)} className="link font-mono text-xs">
          {uuid}
        </To>
      ) : (
        <code className="font-mono text-xs">{uuid}</code>
      )}
    </Fact>
  );
}
