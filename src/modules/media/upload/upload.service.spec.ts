import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '../../../../test/support/wait-for.js';
import { watchPace } from './upload.service.js';

describe('watchPace', () => {
  const watch = (socket: { bytesRead: number }, graceMs: number): { errors: Error[]; stop: () => void } => {
    const errors: Error[] = [];
    return { errors, stop: watchPace(socket as unknown as Socket, (error) => errors.push(error), graceMs) };
  };

  it('ends an upload that sends nothing once its grace period is over, once', async () => {
    const { errors, stop } = watch({ bytesRead: 5_000 }, 20);
    await waitFor(() => errors.length > 0);
    await pause(60);
    expect(errors).toEqual([expect.objectContaining({ code: 'INVALID_REQUEST', status: 400 })]);
    stop();
  });

  it('leaves alone who goes on, and sends at least 40 KiB a second on the average', async () => {
    const socket = { bytesRead: 0 };
    const { errors, stop } = watch(socket, 60);
    const sending = setInterval(() => (socket.bytesRead += 40 * 1_024), 5);
    await pause(250);
    clearInterval(sending);
    expect(errors).toEqual([]);
    stop();
  });

  it('ends who was quick and then stops', async () => {
    const socket = { bytesRead: 0 };
    const { errors, stop } = watch(socket, 20);
    // Enough for half a minute, were it not for the pause.
    socket.bytesRead = 30 * 40 * 1_024;
    await waitFor(() => errors.length > 0);
    await pause(60);
    expect(errors).toHaveLength(1);
    stop();
  });

  it('says nothing once it is stopped', async () => {
    const { errors, stop } = watch({ bytesRead: 0 }, 20);
    stop();
    await pause(80);
    expect(errors).toEqual([]);
  });
});
