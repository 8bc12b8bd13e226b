import { checkTargetUrl, type RefusedUrl } from './check-url.js';
import { TargetAddresses, type TargetOptions } from './target-addresses.js';

export type TargetCheck = { readonly ok: true; readonly url: string } | RefusedUrl;

/** Checks a webhook's address before it is stored. Every delivery checks again, on the address it connects to. */
export class TargetChecker {
  private readonly addresses: TargetAddresses;

  constructor(private readonly options: TargetOptions) {
    this.addresses = new TargetAddresses(options);
  }

  /**
   * Checks the form of the URL and every address of its host; what comes back is the canonical URL, the one to store.
   * Never rejects. `malformed` is INVALID_REQUEST on the field `url`; every other reason is one of
   * WEBHOOK_URL_NOT_ALLOWED.
   */
  async check(raw: string): Promise<TargetCheck> {
    const form = checkTargetUrl(raw, this.options.policy);
    if (!form.ok) {
      return form;
    }
    const found = await this.addresses.find(form.url.hostname);
    if (found.ok) {
      return { ok: true, url: form.url.href };
    }
    switch (found.fault) {
      case 'private_address':
        return refuse(
          'private_address',
          'Every address of the host must be public; at least one is private, local or reserved.',
        );
      case 'unresolvable':
        return refuse('unresolvable', 'The host has no address; check the name and its A and AAAA records.');
      case 'too_many_addresses':
        return refuse('unresolvable', 'The host has more addresses than a web server would; use another name.');
      case 'dns_timeout':
      case 'dns_failed':
        return refuse('unresolvable', 'The name servers of the host gave no answer; check them, then try again.');
    }
  }
}

function refuse(reason: RefusedUrl['reason'], message: string): RefusedUrl {
  return { ok: false, reason, message };
}
