/** The name of a group of messages. It does not begin with a dot, because clients resolve '.' and '..' in a path. */
export const TAG = /^[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,63}$/;
export const TAG_MEANING = "1 to 64 letters, digits, '_', ':', '-' and '.', which is not the first";
