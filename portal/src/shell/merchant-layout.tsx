// The layout of a merchant's pages: navigation, live data and palette, separate for each merchant and environment.
import { useEffect } from "react";
import { useParts } from "../address.ts";
import { useApi, useCan, useMaybePlace } from "../api/place.ts";
import { useLive } from "../api/live.ts";
import type { SessionView } from "../api/session.ts";
import { useWords } from "../words.ts";
import { merchantMap } from "./map.ts";
import { MerchantPalette } from "./merchant-palette.tsx";
import { EnvironmentSwitch, MerchantSwitcher } from "./places.tsx";
import { SessionGate } from "./session-gate.tsx";
import { Shell } from "./shell.tsx";
import { keepPlace } from "./start.tsx";
import { NoSuchPlace } from "./states.tsx";

export function MerchantLayout() {
  const { merchant } = useParts();
  const place = useMaybePlace();
  return (
    <SessionGate>
      {({ memberships }: SessionView) => {
        const isMember = memberships.some(({ merchant_id }) => merchant_id === merchant);
        return isMember && place ? <MerchantShell /> : <NoSuchPlace />;
      }}
    </SessionGate>
  );
}

function MerchantShell() {
  const words = useWords();
  const api = useApi();
  const can = useCan();
  const { place } = api;
  const live = useLive(api);
  useEffect(() => {
    if (place) keepPlace(place);
  }, [place]);
  if (!place) return null;
  const head = (
    <>
      <MerchantSwitcher />
      <EnvironmentSwitch />
    </>
  );
  return (
    <Shell
      groups={merchantMap(place, words, can)}
      live={live}
      head={head}
      palette={MerchantPalette}
      name={`${place.merchant}/${place.environment}`}
    />
  );
}
