// Over a page with something typed whose session has ended: the page is hidden, with its dialogs, and goes on when its person has signed in again.
import { pagesRoot } from "../face.ts";
import { paths } from "../paths.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";

export function SignedOut({ again }: { again: () => Promise<unknown> }) {
  return (
    <Dialog open onClose={() => void again()} title="You are signed out">
      <p data-signed-out>Nothing you typed is lost. Sign in in a new tab, then continue here.</p>
      <div className="mt-5 flex flex-wrap items-center justify-end gap-4">
        <a className="link" href={`${pagesRoot}${paths.signIn()}`} target="_blank" rel="noreferrer">
          Sign in in a new tab
        </a>
        <Button look="primary" onClick={again}>
          Go on
        </Button>
      </div>
    </Dialog>
  );
}
