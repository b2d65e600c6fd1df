import { testHalf } from './small-simulations.ts';

testHalf(1);
