// The layout of a person's account pages, which belong to no merchant.
import { serviceName } from "../face.ts";
import { paths } from "../paths.ts";
import { To } from "../ui/link.tsx";
import { useWords } from "../words.ts";
import { accountMap } from "./map.ts";
import { MerchantPalette } from "./merchant-palette.tsx";
import { SessionGate } from "./session-gate.tsx";
import { Shell } from "./shell.tsx";
import { startOf } from "./start.tsx";

export function AccountLayout() {
  const words = useWords();
  return (
    <SessionGate>
      {(session) => {
        const place = startOf(session);
        const name = session.memberships.find(({ merchant_id }) => merchant_id === place?.merchant)?.merchant_name;
        const head = (
          <To
            to={place ? paths.home(place) : paths.start()}
            className="flex min-h-8 items-center rounded px-2 text-base font-semibold hover:bg-hover"
          >
            ← {name ?? serviceName()}
          </To>
        );
        return <Shell groups={accountMap(words)} head={head} palette={MerchantPalette} name="account" />;
      }}
    </SessionGate>
  );
}
