/** What a number's profile says; a field that was never set, or was emptied, is missing. */
export interface Profile {
  about?: string;
  address?: string;
  description?: string;
  email?: string;
  profile_picture_url?: string;
  websites?: string[];
  vertical?: string;
}
