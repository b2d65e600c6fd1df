import * as z from 'zod/mini';
import { projectIdPattern } from '../formats.ts';

export const projectIdSchema = z.string().check(z.regex(projectIdPattern));
export const notificationIdSchema = z.uuid();
