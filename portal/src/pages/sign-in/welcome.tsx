// After a link, for who has neither password nor passkey: they are in, and should know how to come back.
import type { SessionView } from "../../api/session.ts";
import { paths, withSearch } from "../../paths.ts";
import { Guest } from "../../shell/guest.tsx";
import { ButtonLink } from "../../ui/button.tsx";

export function Welcome({ session: { person, memberships }, next }: { session: SessionView; next: string }) {
  const [first] = memberships;
  return (
    <Guest title={`Welcome, ${person.name}`} lead={`You are signed in as ${person.email}.`}>
      <p>
        The link is used up, and you have no password yet. Choose one now, or add a passkey, and you can come back
        without another link.
      </p>
      <div className="flex flex-col gap-2">
        <ButtonLink look="primary" to={withSearch(paths.accountPassword(), { next })}>
          Choose a password
        </ButtonLink>
        <ButtonLink to={withSearch(paths.accountPasskeys(), { next })}>Add a passkey</ButtonLink>
        <ButtonLink look="quiet" to={next}>
          Later: {first ? `to ${first.merchant_name}` : "to the pages"}
        </ButtonLink>
      </div>
    </Guest>
  );
}
