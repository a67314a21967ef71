"""Colours that colour-blind people can tell apart (Okabe and Ito 2008), for every picture."""

from __future__ import annotations

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
BLUE, ORANGE, GREEN, PURPLE, AMBER, SKY, BLACK, YELLOW = OKABE_ITO
GREY = "#767676"
