import { projectSchema } from '../../schemas/project.ts';
import { component } from '../described.ts';
import type { Operation } from '../operation.ts';

export const getProject: Operation = {
  summary: 'Read a project',
  description: 'Returns a project, its caps and its usage.',
  caller: 'your server',
  responses: {
    200: {
      description: 'The project.',
      content: component('Project', projectSchema, {
        projectId: { description: 'The project’s public name.' },
        name: { description: 'The project’s name for people.' },
        applicationServerKey: { description: 'The key with which browsers subscribe: base64url.' },
        subscribers: { description: 'Subscribers now.' },
        subscriberCap: { description: 'The most subscribers; `null` if there is no cap.' },
        sentThisMonth: { description: 'Notifications in `month`.' },
        monthlySendCap: {
          description: 'The most notifications in a month; `null` if there is no cap.',
        },
        month: { description: 'The current UTC month.' },
        createdAt: { description: 'RFC 3339 date-time.' },
      }),
    },
  },
  examples: {
    read: {
      summary: 'A project with both caps',
      request: {},
      status: 200,
      response: {
        projectId: 'my-site',
        name: 'my-site',
        applicationServerKey:
          'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
        subscribers: 1,
        subscriberCap: 1000,
        sentThisMonth: 6,
        monthlySendCap: 10_000,
        month: '2026-11',
        createdAt: '2026-11-01T09:00:00.000Z',
      },
    },
  },
};
