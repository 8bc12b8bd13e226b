/** The name of a group of messages. */
export const TAG = /^[A-Za-z0-9._:-]{1,64}$/;
export const TAG_MEANING = "1 to 64 letters, digits, '.', '_', ':' and '-'";
