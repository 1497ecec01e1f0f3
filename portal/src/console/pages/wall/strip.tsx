// The wall in small, for other pages: its figures of the last hour, and acquirers that are not well.
import { Section } from "../../../ui/page.tsx";
import { ButtonLink } from "../../../ui/button.tsx";
import { useErrorShown } from "../../../ui/face.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { Status } from "../../../ui/status.tsx";
import { useLanguage } from "../../../words.ts";
import { at } from "../../paths.ts";
import { Figures } from "./figures.tsx";
import { useWall } from "./live.ts";

/** Where it cannot be asked for nothing is shown: the page that it stands on says so of its own. */
export function WallStrip() {
  const { wall, staleSince } = useWall("hour", undefined);
  const error = useErrorShown(wall);
  const language = useLanguage();
  if (!wall.data) return error ? null : <Skeleton className="h-28 w-full" />;
  const troubled = wall.data.acquirers.filter(({ state }) => state === "down" || state === "failing");
  return (
    <Section title="Last hour" actions={<ButtonLink to={at.wall()}>Wall</ButtonLink>}>
      <div className={staleSince === undefined ? undefined : "grayscale"}>
        <Figures of={wall.data} language={language} />
      </div>
      {troubled.length > 0 && (
        <ul className="mt-3 divide-y divide-line rounded-md border border-line bg-panel">
          {troubled.map(({ gateway_code: code, name, state }) => (
            <li key={code} className="flex min-h-10 items-center justify-between gap-3 px-4">
              {name}
              <Status status={state} tone={state === "down" ? "bad" : "warn"} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
