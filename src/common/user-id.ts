/** A business-scoped user id of the platform: the country, `ENT.` where several businesses share it, letters and digits. */
export const USER_ID = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;
