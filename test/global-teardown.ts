import { rm } from 'node:fs/promises';

/** Removes the assembly, if the run wrote one. */
export default async function tearDown(): Promise<void> {
  const { CARILLON_ASSEMBLY, CARILLON_ASSEMBLY_TEMPORARY } = process.env;
  if (CARILLON_ASSEMBLY && CARILLON_ASSEMBLY_TEMPORARY) {
    await rm(CARILLON_ASSEMBLY, { recursive: true, force: true });
  }
}
