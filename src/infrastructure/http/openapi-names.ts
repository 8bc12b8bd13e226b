/** Names by which decorators and the generated API description find each other. */
export const SECURITY_SCHEME = 'apiKey';
/** Of the operations about one-time codes, which take keys of an OTP project only. */
export const OTP_SECURITY_SCHEME = 'otpKey';
export const REQUIRED_SCOPE_EXTENSION = 'x-required-scope';
/** Followed by the status, or nothing, and by the code. Taken out again when the description is made. */
export const ERROR_EXTENSION = 'x-herald-error:';

/** Of the service in examples, and in a description that no service gives out. */
export const EXAMPLE_URL = 'https://herald.example';
