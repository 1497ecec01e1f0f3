// A QRIS text for the fake: a valid EMVCo merchant-presented code, so that pages draw it and readers read it.

const object = (tag: string, value: string): string => `${tag}${String(value.length).padStart(2, "0")}${value}`;

/** CRC-16/CCITT-FALSE. */
function checksum(text: string): string {
  let crc = 0xffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    crc &= 0xffff;
  }
  return crc.toString(16).toUpperCase().padStart(4, "0");
}

/** `amount` in rupiah; `id` makes the codes of different payments differ. */
export function qrText(amount: number, id: string): string {
  const text = [
    object("00", "01"),
    object("01", "12"),
    object("26", object("00", "ID.CO.XENDIT.WWW") + object("01", "936008990000000001") + object("02", id.slice(0, 15))),
    object("51", object("00", "ID.CO.QRIS.WWW") + object("02", "ID1020000000001") + object("03", "UMI")),
    object("52", "5411"),
    object("53", "360"),
    object("54", String(amount)),
    object("58", "ID"),
    object("59", "XENDIT FAKE"),
    object("60", "JAKARTA"),
    object("61", "10110"),
    object("62", object("05", id.slice(0, 25))),
    "6304",
  ].join("");
  return text + checksum(text);
}
