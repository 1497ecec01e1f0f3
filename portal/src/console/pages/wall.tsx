// The wall, beside the navigation.
import { Board } from "./wall/board.tsx";

export function Page() {
  return <Board isScreen={false} />;
}
