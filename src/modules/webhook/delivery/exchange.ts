import type { Dispatcher } from 'undici';
import { answerWord, DeliveryFault } from './delivery-fault.js';

/** What of an answer's head counts. */
export interface Head {
  readonly status: number;
  readonly retryAfter: string | string[] | undefined;
}

/** One request's way through undici. Reads the body to no purpose but to free the connection, and not without end. */
export class Exchange implements Dispatcher.DispatchHandler {
  /** How the body ended; null while it has not. */
  complete: boolean | null = null;
  private answered = false;
  private bodyBytes = 0;
  private resolve: (head: Head) => void = ignore;
  private reject: (fault: DeliveryFault) => void = ignore;
  private ended: (complete: boolean) => void = ignore;

  constructor(private readonly mostBodyBytes: number) {}

  listen(resolve: (head: Head) => void, reject: (fault: DeliveryFault) => void): void {
    this.resolve = resolve;
    this.reject = reject;
  }

  onEnd(ended: (complete: boolean) => void): void {
    this.ended = ended;
  }

  onRequestStart(): void {}

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx are announcements; the answer follows.
    if (status >= 200) {
      this.answered = true;
      this.resolve({ status, retryAfter: headers['retry-after'] });
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.bodyBytes += chunk.length;
    if (this.bodyBytes > this.mostBodyBytes) {
      this.end(false);
      controller.abort(new DeliveryFault('answer_body_too_large'));
    }
  }

  onResponseEnd(): void {
    this.end(true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: unknown): void {
    if (this.answered) {
      this.end(false);
    } else {
      this.reject(error instanceof DeliveryFault ? error : new DeliveryFault(answerWord(error)));
    }
  }

  private end(complete: boolean): void {
    this.complete ??= complete;
    this.ended(this.complete);
  }
}

function ignore(): void {}
