import { testKinds } from './kind-stage.js';
import { MORE_MESSAGES } from './notification-kinds.js';

describe('a notification', () => {
  testKinds(MORE_MESSAGES);
});
