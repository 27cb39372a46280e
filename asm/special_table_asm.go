package main

// geluF32Table describes U(a) = a·exp(a²/2)·Q(a), Q being the upper tail of the normal distribution, by 16 polynomials of a - c: four in
// each octave of a + 1, of which these are the quarters. A row is c and the coefficients of U, from the constant one on. Of the float32
// near the middle, c is one for which U(c) and its derivative are nearly float32, too: nothing of the constant is lost. The largest
// error is 0.08·2^-24 of U, before rounding.
var geluF32Table = [16][8]float64{
	{0, 0, 0x1p-1, -0x1.98844p-2, 0x1.fff906p-3, -0x1.0fe0e6p-3, 0x1.f15e44p-5, -0x1.468546p-6},
	{0x1.7fbb0cp-2, 0x1.23622ep-3, 0x1.224b34p-2, -0x1.a0ddd2p-3, 0x1.dc70dcp-4, -0x1.d28c4cp-5, 0x1.98214p-6, -0x1.43fd86p-7},
	{0x1.40303p-1, 0x1.9e0bf4p-3, 0x1.9a11f6p-3, -0x1.12c3cap-3, 0x1.27841p-4, -0x1.11f1bp-5, 0x1.c7a1a4p-7, -0x1.5a4d16p-8},
	{0x1.bfc262p-1, 0x1.f53596p-3, 0x1.28ebaep-3, -0x1.73fba2p-4, 0x1.78f75p-5, -0x1.4b2744p-6, 0x1.05ff84p-7, -0x1.772edp-9},
	{0x1.4043dap+0, 0x1.2778acp-2, 0x1.7b07bap-4, -0x1.ae2f24p-5, 0x1.8f414p-6, -0x1.43cb36p-7, 0x1.e004e2p-9, -0x1.45444cp-10},
	{0x1.c03bd4p+0, 0x1.4bfc66p-2, 0x1.bcddc6p-5, -0x1.bd92cap-6, 0x1.719ca8p-7, -0x1.0e7cf8p-8, 0x1.6be43p-10, -0x1.c2de28p-12},
	{0x1.1fd28ap+1, 0x1.61f744p-2, 0x1.160252p-5, -0x1.ef5cfp-7, 0x1.7170aep-8, -0x1.ea372p-10, 0x1.2c73acp-11, -0x1.5387b8p-13},
	{0x1.5ffbeap+1, 0x1.701e36p-2, 0x1.6c6784p-6, -0x1.22b2a4p-7, 0x1.87c44cp-9, -0x1.d9014ep-11, 0x1.091132p-12, -0x1.17875p-14},
	{0x1.bffcd8p+1, 0x1.7d23c8p-2, 0x1.a2a628p-7, -0x1.1ee7dap-8, 0x1.4fad8ap-10, -0x1.63096cp-12, 0x1.649368p-14, -0x1.4a2e4ep-16},
	{0x1.20177ep+2, 0x1.86c8b8p-2, 0x1.bf5cecp-8, -0x1.000762p-9, 0x1.f98734p-12, -0x1.c715a4p-14, 0x1.85c136p-16, -0x1.38196cp-18},
	{0x1.6032dp+2, 0x1.8c2ecep-2, 0x1.077d9ap-8, -0x1.017d54p-10, 0x1.b52e96p-13, -0x1.548658p-15, 0x1.f9834ap-18, -0x1.62a27ep-20},
	{0x1.9fd11cp+2, 0x1.8f74f4p-2, 0x1.4f0d58p-9, -0x1.1cfbf8p-11, 0x1.a7444ap-14, -0x1.21b692p-16, 0x1.7a5eb2p-19, -0x1.d25704p-22},
	{0x1.0004f2p+3, 0x1.9269acp-2, 0x1.761172p-10, -0x1.0913cep-12, 0x1.4995a8p-15, -0x1.7b89f8p-18, 0x1.ab1964p-21, -0x1.c147fap-24},
	{0x1.4038d6p+3, 0x1.948dccp-2, 0x1.8a27d8p-11, -0x1.c74b04p-14, 0x1.cf5724p-17, -0x1.b65e62p-20, 0x1.92eaap-23, -0x1.5e3438p-26},
	{0x1.803a8p+3, 0x1.95bd88p-2, 0x1.d02cb2p-12, -0x1.c3c4dap-15, 0x1.845a22p-18, -0x1.370b44p-21, 0x1.e2799ep-25, -0x1.660594p-28},
	{0x1.c0062ap+3, 0x1.9676c6p-2, 0x1.27dc0cp-12, -0x1.f1425p-16, 0x1.71ab8ap-19, -0x1.006b9ep-22, 0x1.57c4a4p-26, -0x1.bd19d4p-30},
}
