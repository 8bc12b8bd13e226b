import type { Socket } from 'node:net';
import { jest } from '@jest/globals';
import { watchPace } from './upload.service.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('watchPace', () => {
  const watch = (socket: { bytesRead: number }, graceMs: number): { errors: Error[]; stop: () => void } => {
    const errors: Error[] = [];
    return { errors, stop: watchPace(socket as unknown as Socket, (error) => errors.push(error), graceMs) };
  };

  it('ends an upload that sends nothing once its grace period is over, once', () => {
    const { errors, stop } = watch({ bytesRead: 5_000 }, 20);
    jest.advanceTimersByTime(20);
    expect(errors).toEqual([]);
    jest.advanceTimersByTime(80);
    expect(errors).toEqual([expect.objectContaining({ code: 'INVALID_REQUEST', status: 400 })]);
    stop();
  });

  it('leaves alone who goes on, and sends at least 40 KiB a second on the average', () => {
    const socket = { bytesRead: 0 };
    const { errors, stop } = watch(socket, 60);
    const sending = setInterval(() => (socket.bytesRead += 40 * 51.2), 50);
    jest.advanceTimersByTime(60_000);
    clearInterval(sending);
    expect(errors).toEqual([]);
    stop();
  });

  it('ends who was quick and then stops', () => {
    const socket = { bytesRead: 0 };
    const { errors, stop } = watch(socket, 20);
    // Enough for half a minute, were it not for the pause.
    socket.bytesRead = 30 * 40 * 1_024;
    jest.advanceTimersByTime(100);
    expect(errors).toHaveLength(1);
    stop();
  });

  it('says nothing once it is stopped', () => {
    const { errors, stop } = watch({ bytesRead: 0 }, 20);
    stop();
    jest.advanceTimersByTime(80);
    expect(errors).toEqual([]);
  });
});
