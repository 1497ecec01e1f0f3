// A merchant's profile: name, branding, language and time zone. Changes are rare, so they run outside the lanes.
import type { Clock } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { assert, validationFault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { judgePicture } from "../ground/pictures.ts";
import { isTimeZone } from "../ground/time-zones.ts";
import type { Database } from "../store/database.ts";
import { type SettingsWatch, nextEpoch } from "../store/settings-watch.ts";
import {
  type Logo,
  type LogoRow,
  type Profile,
  type ProfileChange,
  clearLogo,
  profileOfRow,
  renameMerchant,
  selectLogo,
  selectProfile,
  upsertLogo,
  upsertProfile,
} from "./profiles.sql.ts";

/** A payer's page stays below 60 KB with it. */
export const LOGO_BYTES_MAX = 32_768;
const LOGO_SIDE_MAX = 2048;

export class Profiles {
  private readonly database: Database;
  private readonly watch: SettingsWatch;
  private readonly clock: Clock;

  constructor(database: Database, watch: SettingsWatch, clock: Clock) {
    this.database = database;
    this.watch = watch;
    this.clock = clock;
  }

  /** The profile of a merchant; the merchant must exist. */
  async of(merchantId: string): Promise<Profile> {
    const [row] = await this.database.query(selectProfile(merchantId));
    assert(row, "there is no such merchant");
    return profileOfRow(row);
  }

  /** Changes the given fields. A new name reaches every process within a second. Throws VALIDATION_ERROR. */
  async change(merchantId: string, { name, ...change }: ProfileChange & { name?: string | undefined }): Promise<void> {
    const { timeZone } = change;
    if (typeof timeZone === "string" && !isTimeZone(timeZone))
      throw validationFault("time_zone", timeZone, "time_zone is a name such as Asia/Jakarta.");
    await this.database.transaction(async (query) => {
      if (name !== undefined) await query(renameMerchant(merchantId, name, await nextEpoch(query)));
      await query(upsertProfile(merchantId, change, this.clock.now()));
    });
    if (name !== undefined) await this.watch.changed();
  }

  /** Stores a picture as the logo. Throws VALIDATION_ERROR for bytes that are not an accepted picture. */
  async setLogo(merchantId: string, bytes: Buffer): Promise<void> {
    const logo = judgeLogo(bytes);
    await this.database.query(upsertLogo(merchantId, logo, bytes, this.clock.now()));
  }

  /** Removes the logo; false when there was none. */
  async removeLogo(merchantId: string): Promise<boolean> {
    return (await this.database.query(clearLogo(merchantId, this.clock.now()))).length > 0;
  }

  /** The bytes at a logo's address; undefined when that logo does not exist. */
  async logo(merchantId: string, digest: string): Promise<{ bytes: Buffer; type: Logo["type"] } | undefined> {
    if (!isId("merchant", merchantId) || !/^[0-9a-f]{64}$/.test(digest)) return undefined;
    return this.database.first(selectLogo(merchantId, digest), (row: LogoRow) => ({
      bytes: row.logo,
      type: row.logo_type,
    }));
  }
}

/** The path of a logo. Another picture has another path, so browsers may cache each forever. */
export function logoPath(merchantId: string, { digest }: Logo): string {
  return `/logos/${merchantId}/${digest}`;
}

function judgeLogo(bytes: Buffer): Logo {
  const wrong = (problem: string): Error => validationFault("picture", `${bytes.length} bytes`, problem);
  if (bytes.length === 0) throw wrong("The file is empty.");
  if (bytes.length > LOGO_BYTES_MAX)
    throw wrong(`The file has ${bytes.length} bytes; a logo has at most ${LOGO_BYTES_MAX}.`);
  const picture = judgePicture(bytes);
  if ("problem" in picture) throw wrong(picture.problem);
  const { width, height } = picture;
  if (width > LOGO_SIDE_MAX || height > LOGO_SIDE_MAX)
    throw wrong(`The picture is ${width} by ${height} pixels; a logo is at most ${LOGO_SIDE_MAX} by ${LOGO_SIDE_MAX}.`);
  return { ...picture, digest: sha256(bytes).toString("hex") };
}
