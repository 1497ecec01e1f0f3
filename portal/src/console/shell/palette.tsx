// The command palette of the console: to any page by its name.
import { lazy } from "react";
import type { PaletteProps } from "../../shell/palette.tsx";

const Palette = lazy(() => import("../../shell/palette.tsx"));

export function ConsolePalette(props: PaletteProps) {
  return <Palette {...props} find={undefined} name="console" />;
}
