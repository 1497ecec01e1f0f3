// The wall on a screen of its own: nothing else is there.
import { Board } from "./wall/board.tsx";

export function Page() {
  return (
    <main id="page" tabIndex={-1} className="min-h-dvh">
      <Board isScreen />
    </main>
  );
}
