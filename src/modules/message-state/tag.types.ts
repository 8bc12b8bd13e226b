/** The name of a group of messages. No dot begins it: no client leaves '.' and '..' in an address. */
export const TAG = /^[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,63}$/;
export const TAG_MEANING = "1 to 64 letters, digits, '_', ':', '-' and '.', which is not the first";
