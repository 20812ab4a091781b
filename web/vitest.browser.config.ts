import { defineConfig } from 'vitest/config';

const patient = { fileParallelism: false, testTimeout: 180_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'tests', include: ['tests/browser/*.test.ts'], ...patient } },
      { test: { name: 'pictures', include: ['tests/browser/pictures.ts'], ...patient } },
      { test: { name: 'gallery', include: ['tests/browser/docs-gallery.ts'], ...patient } },
      { test: { name: 'endurance', include: ['tests/browser/endurance.ts'], ...patient } },
      { test: { name: 'budget', include: ['tests/browser/budget.ts'], ...patient } },
    ],
  },
});
